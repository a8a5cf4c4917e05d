"""The Azure CLI's own spelling of a call, safe to paste in a shell.

`az rest` sends the very request: `az ml` and parts of `az containerapp` are extensions that may not be there. The id in
the address names the subscription, so that no other one can be meant.
"""

from __future__ import annotations

import json
import shlex

from clouds.azure.paths import ARM, sending
from clouds.models import Call, Scope


def command(call: Call, *, account: str = "", location: str = "") -> str:
    """`az rest --method put --url https://management.azure.com/… --body {…}`, every word quoted."""
    what = sending(call, Scope(location or None, account or None))
    query = "&".join(f"{name}={value}" for name, value in what.query.items())
    words = ["az", "rest", "--method", what.method.lower(), "--url", f"https://{ARM}{what.path}?{query}"]
    if what.body is not None:
        words += ["--body", json.dumps(what.body, ensure_ascii=False)]
    return shlex.join(words)
