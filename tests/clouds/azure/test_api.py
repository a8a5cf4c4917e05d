from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import httpx2
import pytest

from clouds.azure.api import AzureApi
from clouds.errors import ApiDisabled, InvalidInput, NotFound, PermissionMissing, Throttled, Unexpected, Unreachable
from clouds.models import Call, Scope
from tests.clouds.azure.rig import ARM, SUBSCRIPTION, Clock, Credential, Network, problem, registered, rig

APPS = Call("Microsoft.App/containerApps", "list")
HERE = Scope("eastus", SUBSCRIPTION)
BASE = f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.App/containerApps"
PROVIDERS = f"GET /subscriptions/{SUBSCRIPTION}/providers"
APP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.App/containerApps/gemma"


def page(number: int, *names: str, link: str | None = None) -> dict[str, Any]:
    more = {} if link is None else {"nextLink": link}
    return {"value": [{"name": name} for name in names], **more}


def names(answer: Any) -> list[str]:
    return [row["name"] for row in answer["value"]]


def test_all_pages_are_joined_and_a_link_keeps_its_own_query() -> None:
    second = f"{ARM}{BASE}?api-version=2020-01-01&$skiptoken=AAA"
    api, network, _ = rig({f"GET {BASE}": (200, page(1, "a", "b", link=second)), f"GET {second}": (200, page(2, "c"))})
    answer = api.send(APPS, scope=HERE)
    assert answer == {"value": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}
    assert [each.query for each in network.sent] == [
        {"api-version": "2026-01-01"},
        {"api-version": "2020-01-01", "$skiptoken": "AAA"},
    ]


def test_two_hundred_pages_are_joined_in_their_order() -> None:
    links = [f"{ARM}{BASE}?page={n}" for n in range(2, 202)]
    answers: dict[str, Any] = {f"GET {BASE}": (200, page(1, "1", link=links[0]))}
    for n, (link, following) in enumerate(zip(links, [*links[1:], None], strict=True), 2):
        answers[f"GET {link}"] = (200, page(n, str(n), link=following))
    api, _, _ = rig(answers)
    assert names(api.send(APPS, scope=HERE)) == [str(n) for n in range(1, 202)]


def test_an_empty_first_page_with_a_next_one_is_followed() -> None:
    second = f"{ARM}{BASE}?page=2"
    api, _, _ = rig({f"GET {BASE}": (200, page(1, link=second)), f"GET {second}": (200, page(2, "c"))})
    assert names(api.send(APPS, scope=HERE)) == ["c"]


def test_a_list_that_answers_nothing_at_all_is_no_empty_list() -> None:
    api, _, _ = rig({f"GET {BASE}": (200, "")})
    with pytest.raises(Unexpected, match="status 200 and nothing else"):
        api.send(APPS, scope=HERE)


def test_a_link_of_odata_is_followed_too() -> None:
    second = f"{ARM}{BASE}?page=2"
    first = {"value": [{"name": "a"}], "@odata.nextLink": second}
    api, _, _ = rig({f"GET {BASE}": (200, first), f"GET {second}": (200, page(2, "c"))})
    assert names(api.send(APPS, scope=HERE)) == ["a", "c"]


def test_the_same_link_twice_is_an_error_and_no_endless_loop() -> None:
    again = f"{ARM}{BASE}?page=2"
    api, network, _ = rig(
        {f"GET {BASE}": (200, page(1, "a", link=again)), f"GET {again}": (200, page(2, "b", link=again))}
    )
    with pytest.raises(Unexpected, match="the same page twice"):
        api.send(APPS, scope=HERE)
    assert len(network.sent) == 2


def test_a_list_without_an_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clouds.azure.pages.MOST", 3)
    links = [f"{ARM}{BASE}?page={n}" for n in range(9)]
    answers: dict[str, Any] = {f"GET {BASE}": (200, page(1, "a", link=links[0]))}
    for link, following in pairwise(links):
        answers[f"GET {link}"] = (200, page(2, "b", link=following))
    api, network, _ = rig(answers)
    with pytest.raises(Unexpected, match="no last page"):
        api.send(APPS, scope=HERE)
    assert len(network.sent) == 4


@pytest.mark.parametrize(
    "link",
    [
        "https://evil.example/page",
        "http://management.azure.com/page",
        "https://management.azure.com@evil.example/page",
        "https://management.azure.com.evil.example/page",
        "https://management.azure.com:8443/page",
        "a://example.com/aaa",
        "...",
    ],
)
def test_no_token_goes_to_an_address_that_an_answer_names_elsewhere(link: str) -> None:
    api, network, _ = rig({f"GET {BASE}": (200, page(1, "a", link=link))})
    with pytest.raises(Unexpected, match=r"not on management\.azure\.com"):
        api.send(APPS, scope=HERE)
    assert network.paths == [f"GET {BASE}"]


def test_a_throttled_read_waits_as_long_as_it_was_told_and_asks_again() -> None:
    api, network, clock = rig(
        {f"GET {BASE}": [(429, problem("TooManyRequests"), {"Retry-After": "7"}), (200, page(1, "a"))]}
    )
    assert names(api.send(APPS, scope=HERE)) == ["a"]
    assert (clock.slept, len(network.sent)) == ([7.0], 2)


def test_a_wait_that_is_too_long_is_told_and_not_waited_for() -> None:
    api, _, clock = rig({f"GET {BASE}": (429, problem("TooManyRequests", "slow down"), {"Retry-After": "600"})})
    with pytest.raises(Throttled) as told:
        api.send(APPS, scope=HERE)
    assert (told.value.retry_after, told.value.answered, clock.slept) == (600.0, "slow down", [])


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
def test_a_read_is_repeated_after_a_failure_of_the_server(status: int) -> None:
    api, network, _ = rig({f"GET {BASE}": [(status, None), (200, page(1, "a"))]})
    assert names(api.send(APPS, scope=HERE)) == ["a"]
    assert len(network.sent) == 2


def test_a_write_is_not_repeated_when_it_may_have_happened() -> None:
    put = Call("Microsoft.App/containerApps", "put", {"id": APP, "body": {"location": "eastus"}})
    for failure in ((503, problem("ServerError")), httpx2.ReadTimeout("too slow")):
        api, network, _ = rig({f"PUT {APP}": failure})
        with pytest.raises((Unexpected, Unreachable)):
            api.begin(put, scope=HERE)
        assert len(network.sent) == 1


def test_a_write_is_repeated_where_nothing_can_have_happened() -> None:
    put = Call("Microsoft.App/containerApps", "put", {"id": APP, "body": {"location": "eastus"}})
    for failure in ((429, problem("TooManyRequests"), {"Retry-After": "1"}), httpx2.ConnectError("no route")):
        api, network, _ = rig({f"PUT {APP}": [failure, (201, {"properties": {"provisioningState": "Succeeded"}})]})
        assert api.begin(put, scope=HERE).how == "done"
        assert len(network.sent) == 2


def test_an_empty_page_is_believed_where_the_provider_is_registered() -> None:
    api, network, _ = rig({f"GET {BASE}": (200, page(1)), PROVIDERS: (200, registered("microsoft.APP"))})
    assert api.send(APPS, scope=HERE) == {"value": []}
    assert network.paths == [f"GET {BASE}", PROVIDERS]


def test_an_empty_page_of_a_provider_that_is_not_registered_is_not_believed() -> None:
    states = {"value": [{"namespace": "Microsoft.App", "registrationState": "NotRegistered"}]}
    api, _, _ = rig({f"GET {BASE}": (200, page(1)), PROVIDERS: (200, states)})
    with pytest.raises(ApiDisabled) as told:
        api.send(APPS, scope=HERE)
    assert (told.value.code, "az provider register --namespace Microsoft.App" in told.value.fix) == (
        "NotRegistered",
        True,
    )


def test_an_empty_page_is_not_believed_where_nobody_says_what_is_registered() -> None:
    api, _, _ = rig({f"GET {BASE}": (200, page(1)), PROVIDERS: (403, problem("AuthorizationFailed", "no"))})
    with pytest.raises(PermissionMissing):
        api.send(APPS, scope=HERE)


@pytest.mark.parametrize(
    ("status", "code"),
    [(404, "InvalidResourceType"), (400, "NoRegisteredProviderFound"), (400, "InvalidApiVersionParameter")],
)
def test_a_retired_version_is_an_error_and_never_nothing_here(status: int, code: str) -> None:
    api, _, _ = rig({f"GET {BASE}": (status, problem(code, "The API version '2019' is not supported"))})
    with pytest.raises(Unexpected) as told:
        api.send(APPS, scope=HERE)
    assert (told.value.code, "says nothing about what is there" in told.value.fix) == (code, True)


def test_what_is_not_there_is_not_found() -> None:
    api, _, _ = rig({f"GET {APP}": (404, problem("ResourceNotFound", "The Resource was not found"))})
    with pytest.raises(NotFound):
        api.send(Call("Microsoft.App/containerApps", "get", {"id": APP}), scope=HERE)


@pytest.mark.parametrize(
    "call",
    [
        Call("Microsoft.Nothing/things", "list"),
        Call("Microsoft.App/containerApps", "get", {"id": "gemma"}),
        Call("Microsoft.App/containerApps", "get", {"id": f"{APP}/../../other"}),
        Call("Microsoft.App/containerApps", "get", {"id": f"{APP}?api-version=1"}),
        Call("Microsoft.App/containerApps/revisions", "list"),
        Call("Microsoft.App/containerApps", "list", {"filter": "x"}),
    ],
)
def test_a_call_that_cannot_be_a_path_is_refused_before_it_is_sent(call: Call) -> None:
    api, network, _ = rig({})
    with pytest.raises(InvalidInput):
        api.send(call, scope=HERE)
    assert network.sent == []


@pytest.mark.parametrize("body", [{}, [], "words", {"value": None}, {"items": []}])
def test_an_answer_that_lists_nothing_is_not_taken_for_an_empty_list(body: Any) -> None:
    api, _, _ = rig({f"GET {BASE}": (200, body)})
    with pytest.raises(Unexpected, match="an answer without a list"):
        api.send(APPS, scope=HERE)


def test_no_content_is_an_empty_list_where_the_provider_is_registered() -> None:
    api, _, _ = rig({f"GET {BASE}": (204, None), PROVIDERS: (200, registered("Microsoft.App"))})
    assert api.send(APPS, scope=HERE) == {"value": []}


def test_a_group_may_have_a_name_in_any_script() -> None:
    group = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/größe-模型"
    quoted = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/gr%C3%B6%C3%9Fe-%E6%A8%A1%E5%9E%8B"
    api, network, _ = rig({f"GET {ARM}{quoted}?api-version=2023-07-01": (200, {"name": "x"})})
    assert api.send(Call("Microsoft.Resources/resourceGroups", "get", {"id": group}), scope=HERE) == {"name": "x"}
    assert len(network.sent) == 1


def test_a_link_that_is_no_address_at_all_is_refused() -> None:
    api, _, _ = rig({f"GET {BASE}": (200, page(1, "a", link=f"{ARM}/\x00"))})
    with pytest.raises(Unexpected):
        api.send(APPS, scope=HERE)


def test_a_version_cannot_be_slipped_into_a_call() -> None:
    api, network, _ = rig({})
    with pytest.raises(InvalidInput, match="version"):
        api.send(Call("Microsoft.App/containerApps", "list", {"query": {"api-version": "2019-01-01"}}), scope=HERE)
    assert network.sent == []


def test_many_empty_lists_at_once_ask_for_the_registrations_once() -> None:
    api, network, _ = rig({f"GET {BASE}": (200, page(1)), PROVIDERS: (200, registered("Microsoft.App"))})
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: api.send(APPS, scope=HERE), range(16)))
    assert network.paths.count(PROVIDERS) == 1


def test_a_machine_without_a_network_says_so_soon() -> None:
    api, network, clock = rig({f"GET {BASE}": httpx2.ConnectError("name or service not known")})
    with pytest.raises(Unreachable):
        api.send(APPS, scope=HERE)
    assert (len(network.sent), clock.slept) == (3, [1.0, 2.0])


def test_a_read_that_takes_long_each_time_is_not_tried_for_ever() -> None:
    class Slow(Network):
        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            clock.now += 30
            return super().handle_request(request)

    clock = Clock()
    network = Slow({f"GET {BASE}": (503, None)})
    api = AzureApi(
        credential=lambda: Credential(clock), inner=network, clock=clock, sleep=clock.sleep, signed_in=lambda: ()
    )
    with pytest.raises(Unexpected):
        api.send(APPS, scope=HERE)
    assert len(network.sent) == 2


def test_what_cannot_be_reached_says_so() -> None:
    api, _, _ = rig({f"GET {BASE}": httpx2.ConnectError("name or service not known")}, attempts=2)
    with pytest.raises(Unreachable) as told:
        api.send(APPS, scope=HERE)
    assert (told.value.code, told.value.sent) == ("ConnectError", False)
