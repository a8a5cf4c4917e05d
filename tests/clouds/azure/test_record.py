"""What the network answered can be written down without its secrets, and answers again in its place."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

from clouds.azure.api import AzureApi
from clouds.models import Call, Scope
from clouds.record import Recorder
from clouds.replay import Replay, load
from tests.clouds.azure.rig import ARM, rig

REAL = "3db3ce66-50b6-4d11-91ef-5950cf4039ed"
BASE = f"/subscriptions/{REAL}/providers/Microsoft.App/containerApps"
APP = f"/subscriptions/{REAL}/resourceGroups/rg/providers/Microsoft.App/containerApps/gemma"
OPERATION = f"{ARM}/subscriptions/{REAL}/providers/Microsoft.App/locations/eastus/operations/1?t=2&s=c2lnbmF0dXJl"


def test_a_recording_replays_its_pages_and_operations_and_holds_no_secret(tmp_path: Path) -> None:
    folder = tmp_path / "all_of_it"
    second = f"{ARM}{BASE}?api-version=2026-01-01&$skiptoken=c2tpcA"
    body = {"properties": {"configuration": {"secrets": [{"name": "api-key", "value": "hunter2"}]}}}
    api, _, _ = rig(
        {
            f"GET {BASE}": (200, {"value": [], "nextLink": second}),
            f"GET {second}": (200, {"value": [{"name": "gemma", "id": APP}]}),
            f"PUT {APP}": (201, body, {"Azure-AsyncOperation": OPERATION}),
            f"GET {OPERATION}": (200, {"status": "Succeeded"}),
        },
        taps=(Recorder(folder, source="a test", on=date(2026, 11, 29)),),
    )
    listing, put = (
        Call("Microsoft.App/containerApps", "list"),
        Call("Microsoft.App/containerApps", "put", {"id": APP, "body": body}),
    )
    api.send(listing, scope=Scope(account=REAL))
    api.poll(api.begin(put, scope=Scope(account=REAL)))
    written = "".join(path.read_text() for path in folder.iterdir())
    assert [word for word in (REAL, "hunter2", "c2tpcA", "c2lnbmF0dXJl", "token-of") if word in written] == []
    names = sorted(path.name for path in folder.glob("0*.json"))
    assert names == [
        "01_Microsoft.App~containerApps.list.json",
        "02_Microsoft.App~containerApps.list.json",
        "03_Microsoft.App~containerApps.put.json",
        "04_operations.get.json",
    ]

    account = json.loads((folder / names[0]).read_text())["account"]
    again = AzureApi(taps=(Replay([load(folder)]),), recorded=True)
    scope = Scope(account=account)
    found = again.send(listing, scope=scope)["value"]
    assert [each["name"] for each in found] == ["gemma"]
    clean = json.loads((folder / names[2]).read_text())["parameters"]["body"]
    begun = again.begin(Call(put.service, "put", {"id": found[0]["id"], "body": clean}), scope=scope)
    assert again.poll(begun) == {"status": "Succeeded"}
