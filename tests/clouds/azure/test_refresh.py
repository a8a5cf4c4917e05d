from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from clouds.azure.prices import BUNDLED, AzurePrices, refreshed_path
from clouds.azure.rates import RATES, Rate
from clouds.azure.refresh import PLACES, command, refresh
from clouds.errors import Throttled, Unexpected
from clouds.pricetable import Refreshed, rows_of, written
from tests.clouds.azure.rig import Answer, Network, problem, rig
from tests.clouds.azure.test_prices import LIST, item, listed, machine

NOW = datetime(2026, 11, 29, tzinfo=UTC)
KEYS = ("vm/{arm}/on-demand", "nat-gateway/standard", "container-apps/gpu-a100")
SOME = tuple(rate for rate in RATES if rate.key in KEYS)
A100 = "vm/Standard_NC24ads_A100_v4/on-demand"
OLD = [
    [A100, "hour", "eastus", 3.673, "2026-09-06", 0],
    ["nat-gateway/standard", "hour", "global", 0.045, "2026-09-24", 0],
    ["aks/cluster-standard", "hour", "eastus", 0.1, "2026-09-23", 0],
]
GATEWAY = item("Standard Gateway", 0.045, armRegionName="Global", productName="NAT Gateway")
GPU = item("Standard NC A100 v4 GPU Usage", 0.000529, "1 Second", productName="Azure Container Apps")


def home(path: Path) -> Path:
    table = refreshed_path(path)
    table.parent.mkdir(parents=True)
    table.write_text(json.dumps({"sources": ["a table"], "rows": OLD}))
    return path


def run(path: Path, *answers: Answer, rates: tuple[Rate, ...] = SOME) -> tuple[Refreshed, Network]:
    """Machines are asked for region by region, first; then the GPU, then the gateway."""
    elsewhere = [listed() for _ in PLACES[1:]]
    api, network, _ = rig({LIST: [answers[0], *elsewhere, *answers[1:]]})
    return refresh(api, home(path), now=lambda: NOW, rates=rates), network


def table(path: Path) -> dict[tuple[str, str], Any]:
    return {(row.key, row.location): (row.usd, row.as_of, row.source) for row in rows_of(path) if not row.suspect}


def test_the_table_is_rebuilt_and_what_no_rate_covers_keeps_its_date(tmp_path: Path) -> None:
    done, network = run(tmp_path, listed(machine(3.5)), listed(GPU), listed(GATEWAY))
    api = "Azure Retail Prices API"
    assert table(done.path) == {
        (A100, "eastus"): (3.5, "2026-11-29", api),
        ("nat-gateway/standard", "global"): (0.045, "2026-11-29", api),
        ("container-apps/gpu-a100", "eastus"): (1.9044, "2026-11-29", api),
        ("aks/cluster-standard", "eastus"): (0.1, "2026-09-23", "a table"),
    }
    assert (done.rows, done.changed, done.new, done.kept, done.suspect) == (4, 1, 1, ("aks",), ())
    assert [each.token for each in network.sent] == [""] * len(network.sent)


def test_the_new_table_answers_at_once(tmp_path: Path) -> None:
    run(tmp_path, listed(machine(3.5)), listed(GPU), listed(GATEWAY))
    price = AzurePrices(None, tmp_path).price(A100, "eastus")
    assert price is not None
    assert price.amount == 3.5


@pytest.mark.parametrize(
    ("answers", "lost"),
    [
        ((listed(), listed(GPU), listed(GATEWAY)), "refreshing vm/"),
        ((listed(machine(3.5)), listed(GPU), listed()), "refreshing nat-gateway/standard"),
        ((listed(machine(3.5, productName="X Windows")), listed(GPU), listed(GATEWAY)), "refreshing vm/"),
    ],
)
def test_a_section_that_came_back_empty_is_refused_and_nothing_is_written(
    answers: tuple[Answer, ...], lost: str, tmp_path: Path
) -> None:
    with pytest.raises(Unexpected, match=lost):
        run(tmp_path, *answers)
    assert json.loads(refreshed_path(tmp_path).read_text())["rows"] == OLD
    assert [path.name for path in refreshed_path(tmp_path).parent.iterdir()] == ["prices.json"]


def test_a_price_that_jumped_does_not_answer_until_a_person_looked(tmp_path: Path) -> None:
    done, _ = run(tmp_path, listed(machine(36.73)), listed(GPU), listed(GATEWAY))
    price = AzurePrices(None, tmp_path).price(A100, "eastus")
    assert price is not None
    assert price.amount == 3.673
    assert done.suspect == (f"{A100} eastus: 36.73 against 3.673 on 2026-09-06",)


def test_a_price_list_that_refuses_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(Throttled):
        run(tmp_path, (429, problem("TooManyRequests"), {"Retry-After": "3600"}))
    assert json.loads(refreshed_path(tmp_path).read_text())["rows"] == OLD


def test_a_size_without_an_accelerator_that_the_table_never_had_is_not_added(tmp_path: Path) -> None:
    other = machine(9.0, armSkuName="Standard_E999_v9")
    done, _ = run(tmp_path, listed(machine(3.5), other), listed(GPU), listed(GATEWAY))
    assert ("vm/Standard_E999_v9/on-demand", "eastus") not in table(done.path)


def test_it_says_what_it_is_reading(tmp_path: Path) -> None:
    said: list[str] = []
    api, _, _ = rig({LIST: [listed(machine(3.5)), *[listed() for _ in PLACES[1:]], listed(GPU), listed(GATEWAY)]})
    refresh(api, home(tmp_path), now=lambda: NOW, rates=SOME, report=said.append)
    assert said == [f"{rate.section}: {rate.key}" for rate in SOME]


def test_the_machines_of_a_region_are_asked_for_once_for_all_their_prices(tmp_path: Path) -> None:
    machines = tuple(rate for rate in RATES if rate.key.startswith("vm/"))
    spot = machine(0.68, skuName="NC24ads A100 Spot")
    api, network, _ = rig({LIST: [listed(machine(3.5), spot), listed()]})
    done = refresh(api, home(tmp_path), now=lambda: NOW, rates=machines)
    assert (len(machines), len(network.sent)) == (3, len(PLACES))
    assert table(done.path)["vm/Standard_NC24ads_A100_v4/spot", "eastus"][0] == 0.68


def test_the_bundled_table_is_written_as_a_refresh_would_write_it() -> None:
    assert written(rows_of(BUNDLED)) == BUNDLED.read_text("utf-8")


def test_a_rate_and_the_table_speak_of_the_same_keys() -> None:
    keys = {row.key for row in rows_of(BUNDLED)}
    new = {"vm/{arm}/low-priority", "container-apps/dedicated-gpu"}
    assert {rate.key for rate in RATES if not any(rate.covers(key) for key in keys)} == new
    assert [key for key in keys if sum(rate.covers(key) for rate in RATES) > 1] == []


def test_units_of_a_rate_are_those_of_its_rows() -> None:
    units = {(row.key, row.unit) for row in rows_of(BUNDLED)}
    assert [(key, unit) for rate in RATES for key, unit in units if unit != rate.unit and rate.covers(key)] == []


def test_a_replay_takes_the_place_of_the_price_list_for_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "replay"
    folder.mkdir()
    (folder / "01_prices.list.json").write_text(json.dumps({"body": {"Items": []}}))
    origin = {"from": "documentation", "source": "made for this test", "on": "2026-11-29", "scrubbed": []}
    (folder / "origin.json").write_text(json.dumps(origin))
    monkeypatch.setenv("MODELRIG_REPLAY", str(folder))
    with pytest.raises(Unexpected, match="0 of"):
        command(tmp_path / "home", bundled=False, report=lambda _: None)
