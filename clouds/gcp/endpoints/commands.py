"""A call as a command that can be pasted: curl with gcloud's token, the project in the address, every word quoted.
The request id, which a repeated call of ours has in common with the first, is left out.

The call itself is what is sent; a gcloud command would be another one that happens to do the same.
"""

from __future__ import annotations

import json
import shlex
from urllib.parse import urlencode

from clouds.gcp import methods
from clouds.models import Call, Scope


def command(call: Call, project: str) -> str:
    """`curl -X POST -H "Authorization: Bearer $(gcloud auth print-access-token)" … 'https://compute…'`."""
    method = methods.method(call)
    told = {name: value for name, value in call.parameters.items() if name != "requestId"}
    filled = method.filled(told, Scope(account=project))
    query = method.query(filled)
    url = method.url(filled) + (f"?{urlencode(query)}" if query else "")
    words = ["curl -fsS -X", method.verb, '-H "Authorization: Bearer $(gcloud auth print-access-token)"']
    if "body" in filled:
        words += ["-H 'Content-Type: application/json' -d", shlex.quote(json.dumps(filled["body"], ensure_ascii=False))]
    return " ".join([*words, shlex.quote(url)])
