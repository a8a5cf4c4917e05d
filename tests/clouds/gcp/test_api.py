"""Sending: pages, headers, renewals, throttling, and errors of the network itself."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest

from clouds.errors import (
    CredentialExpired,
    InvalidInput,
    NotFound,
    NotSignedIn,
    PermissionMissing,
    Throttled,
    Unexpected,
    Unreachable,
)
from clouds.gcp.api import GcpApi
from clouds.gcp.pages import gaps, scoped
from clouds.gcp.session import Source, recorded
from clouds.models import Call, Scope
from tests.clouds.gcp.server import PROJECT, Asked, FakeCredentials, Google

MACHINES = Call("compute", "instances.aggregatedList")
NODES = Call("tpu", "projects.locations.nodes.list")
STOP = Call("compute", "instances.stop", {"instance": "vm1"})
HERE = Scope("us-west4-a")
BUSY = (503, {"error": {"code": 503, "status": "UNAVAILABLE", "message": "try again"}})
SLOW = (429, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded: requests per minute"}})
REFUSED = (401, {"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "invalid credentials"}})


def test_a_call_names_its_host_project_and_credential(google: Google) -> None:
    google.on(str(NODES), {"nodes": []})
    assert google.api().send(NODES, scope=Scope("us-west4-a")) == {"nodes": []}
    (asked,) = google.asked
    assert asked.headers["Host"] == "tpu.googleapis.com"
    assert asked.headers["Authorization"] == "Bearer token-0"
    assert asked.parameters == {"parent": f"projects/{PROJECT}/locations/us-west4-a"}


def test_pages_of_an_aggregated_list_are_merged_place_by_place(google: Google) -> None:
    warning = {"code": "NO_RESULTS_ON_PAGE", "message": "nothing"}
    google.on(
        str(MACHINES),
        [
            {
                "items": {"zones/a": {"instances": [{"name": "1"}]}, "zones/b": {"warning": warning}},
                "nextPageToken": "t",
            },
            {"items": {}, "nextPageToken": "u"},
            {
                "items": {"zones/a": {"instances": [{"name": "2"}]}, "zones/b": {"instances": [{"name": "3"}]}},
                "unreachables": ["zones/c"],
            },
        ],
    )
    answer = google.api().send(MACHINES, scope=Scope())
    assert [(zone, row["name"]) for zone, row in scoped(answer, "instances")] == [("a", "1"), ("a", "2"), ("b", "3")]
    assert gaps(answer) == ("zones/c",)
    assert "nextPageToken" not in answer
    assert [each.parameters.get("pageToken") for each in google.asked] == [None, "t", "u"]


def test_what_a_list_could_not_see_is_kept_over_its_pages(google: Google) -> None:
    lost = {"code": "UNREACHABLE", "message": "zone is down"}
    google.on(
        str(MACHINES),
        [
            {"items": {"zones/a": {"warning": lost}}, "unreachables": ["zones/c"], "nextPageToken": "t"},
            {"items": {"zones/a": {"warning": {"code": "NO_RESULTS_ON_PAGE"}}}, "unreachables": ["zones/c"]},
        ],
    )
    answer = google.api().send(MACHINES, scope=Scope())
    assert gaps(answer) == ("zones/c", "zones/a: UNREACHABLE: zone is down")


@pytest.mark.parametrize(("tokens", "words", "sent"), [("aaaaaaaa", "the same page", 2), ("abcdefgh", "no last", 4)])
def test_a_list_without_an_end_is_ended(google: Google, monkeypatch: Any, tokens: str, words: str, sent: int) -> None:
    monkeypatch.setattr("clouds.gcp.pages.MOST", 3)
    google.on(str(NODES), [{"nodes": [], "nextPageToken": token} for token in tokens])
    with pytest.raises(Unexpected, match=words):
        google.api().send(NODES, scope=HERE)
    assert len(google.asked) == sent


def test_pages_can_be_read_one_by_one(google: Google) -> None:
    google.on(str(NODES), {"nodes": [], "nextPageToken": "more"})
    pages = google.api().pages(NODES, scope=HERE)
    assert next(pages) == {"nodes": [], "nextPageToken": "more"}
    assert len(google.asked) == 1


def test_a_refused_token_is_renewed_once_and_the_call_repeated_once(google: Google) -> None:
    google.on(str(NODES), [REFUSED, {"nodes": []}])
    credentials = FakeCredentials()
    google.api(credentials=credentials).send(NODES, scope=HERE)
    assert [each.headers["Authorization"] for each in google.asked] == ["Bearer token-0", "Bearer token-1"]
    assert credentials.refreshed == 1


def test_a_token_that_is_refused_again_ends_there(google: Google) -> None:
    google.on(str(NODES), REFUSED)
    with pytest.raises(CredentialExpired) as error:
        google.api(credentials=FakeCredentials(), attempts=4).send(NODES, scope=HERE)
    assert "gcloud auth application-default login" in error.value.fix
    assert len(google.asked) == 2


def test_a_throttled_call_waits_as_long_as_it_is_told(google: Google) -> None:
    google.on(str(NODES), [(*SLOW, {"Retry-After": "0"}), SLOW, {"nodes": []}])
    waits: list[float] = []
    api = google.api(attempts=4)
    api._sleep = waits.append
    pace = api._pace("tpu", PROJECT)
    clock = iter(range(0, 10_000, 100))
    pace._clock = lambda: float(next(clock))
    api.send(NODES, scope=HERE)
    assert len(google.asked) == 3


def test_a_call_that_stays_throttled_says_when_to_ask_again(google: Google) -> None:
    google.on(str(NODES), (*SLOW, {"Retry-After": "7"}))
    with pytest.raises(Throttled) as error:
        google.api().send(NODES, scope=HERE)
    assert error.value.retry_after == 7
    assert len(google.asked) == 1


def test_who_is_told_to_wait_for_minutes_hears_of_it_instead(google: Google) -> None:
    google.on(str(NODES), (*SLOW, {"Retry-After": "600"}))
    with pytest.raises(Throttled) as error:
        google.api(attempts=4).send(NODES, scope=HERE)
    assert error.value.retry_after == 600
    assert len(google.asked) == 1


def test_a_server_that_stalls_is_not_asked_again(google: Google) -> None:
    release = Event()
    google.on(str(NODES), lambda _: (200, {}) if release.wait(5) else (500, {}))
    api = google.api(attempts=4)
    api.client.timeout = 0.05
    with pytest.raises(Unreachable) as error:
        api.send(NODES, scope=HERE)
    release.set()
    assert (error.value.code, error.value.sent) == ("ReadTimeout", True)
    assert len(google.asked) == 1


def test_a_read_is_repeated_where_google_was_busy(google: Google) -> None:
    google.on(str(NODES), [BUSY, BUSY, {"nodes": []}])
    assert google.api(attempts=4).send(NODES, scope=HERE) == {"nodes": []}
    assert len(google.asked) == 3


def test_a_write_is_never_repeated_where_google_was_busy(google: Google) -> None:
    google.on(str(STOP), BUSY)
    with pytest.raises(Unreachable):
        google.api(attempts=4).send(STOP, scope=HERE)
    assert len(google.asked) == 1


def test_a_call_sent_once_is_sent_once(google: Google) -> None:
    google.on(str(NODES), BUSY)
    with pytest.raises(Unreachable):
        google.api(attempts=4).send(NODES, scope=HERE, once=True)
    assert len(google.asked) == 1


def test_the_page_of_a_proxy_is_an_error_and_not_an_empty_list(google: Google) -> None:
    google.on(str(NODES), lambda _: (200, b"<html>Please sign in to the network</html>"))
    with pytest.raises(Unexpected, match="Please sign in"):
        google.api().send(NODES, scope=HERE)


def test_an_error_page_in_html_is_told_in_words(google: Google) -> None:
    google.on(str(NODES), lambda _: (502, b"<html><title>502</title> Server Error</html>"))
    with pytest.raises(Unreachable, match="Server Error"):
        google.api().send(NODES, scope=HERE)


def test_a_dead_port_was_never_heard() -> None:
    api = GcpApi(build=recorded, base="http://127.0.0.1:9", attempts=3)
    with pytest.raises(Unreachable) as error:
        api.send(NODES, scope=HERE)
    assert error.value.sent is False
    api.close()


def test_a_list_that_answers_nothing_at_all_is_no_empty_list(google: Google) -> None:
    google.on(str(NODES), lambda _: (200, b""))
    with pytest.raises(Unexpected, match="200 and nothing else"):
        google.api().send(NODES, scope=HERE)


def test_a_project_that_nobody_named_is_said_before_anything_is_sent(google: Google) -> None:
    with pytest.raises(InvalidInput, match="no project is named"):
        google.api(project="").send(NODES, scope=HERE)
    assert google.asked == []


def test_a_call_that_names_its_project_needs_no_other(google: Google) -> None:
    google.on(str(NODES), {})
    call = Call(NODES.service, NODES.operation, {"parent": "projects/other/locations/-"})
    google.api(project="").send(call, scope=Scope())
    assert google.asked[0].parameters == {"parent": "projects/other/locations/-"}


def test_an_api_that_bills_a_project_is_told_which(google: Google) -> None:
    listing = Call("cloudquotas", "projects.locations.services.quotaInfos.list")
    parent = {"parent": f"projects/{PROJECT}/locations/global/services/run.googleapis.com"}
    google.on(str(listing), {})
    google.on(str(NODES), {})
    google.api().send(Call(listing.service, listing.operation, parent), scope=Scope())
    google.api().send(NODES, scope=Scope())
    google.api(credentials=FakeCredentials(quota_project_id="payer")).send(NODES, scope=Scope())
    assert [each.headers.get("x-goog-user-project") for each in google.asked] == [PROJECT, None, "payer"]


def test_a_service_account_counts_for_its_own_project(google: Google) -> None:
    call = Call("cloudbilling", "projects.getBillingInfo", {"name": "projects/p"})
    google.on(str(call), {})
    api = google.api()
    api.session.source = Source("service_account")
    api.send(call, scope=Scope(account="p"))
    assert google.asked[0].headers.get("x-goog-user-project") is None


def test_a_body_that_the_documents_do_not_know_is_refused_by_the_server_of_the_tests() -> None:
    google = Google()
    call = Call("compute", "advice.capacity", {"region": "us-central1", "body": {"sizes": 1}})
    with google:
        google.on(str(call), {})
        with pytest.raises(InvalidInput, match=r"sizes is not in the document"):
            google.api().send(call, scope=Scope())
        assert google.wrong == ["CapacityAdviceRequest.sizes is not in the document"]
        google.wrong.clear()


def test_many_threads_share_one_client_and_one_credential(google: Google) -> None:
    from concurrent.futures import ThreadPoolExecutor

    google.on(str(NODES), lambda asked: {"nodes": [{"name": asked.parameters["parent"]}]})
    credentials = FakeCredentials()
    credentials.valid = False
    api = google.api(credentials=credentials)

    def name(zone: int) -> Any:
        return api.send(NODES, scope=Scope(f"us-west4-{zone}"))["nodes"][0]["name"]

    with ThreadPoolExecutor(12) as pool:
        names = list(pool.map(name, range(24)))
    assert names == [f"projects/{PROJECT}/locations/us-west4-{zone}" for zone in range(24)]
    assert credentials.refreshed == 1
    assert api.client is api.client


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ((404, {"error": {"code": 404, "status": "NOT_FOUND", "message": "Resource was not found"}}), NotFound),
        ((403, {"error": {"code": 403, "message": "no", "errors": [{"reason": "forbidden"}]}}), PermissionMissing),
    ],
)
def test_an_answer_becomes_an_error_of_our_tree(google: Google, answer: Any, kind: type[Exception]) -> None:
    google.on(str(NODES), answer)
    with pytest.raises(kind):
        google.api().send(NODES, scope=HERE)


def test_without_a_credential_it_says_so_and_sends_nothing() -> None:
    api = GcpApi()
    told = api.signed_out()
    assert told is not None
    with pytest.raises(NotSignedIn, match="no credential is set up") as error:
        api.send(NODES, scope=HERE)
    assert str(error.value) == str(told)
    assert error.value.sent is False


def test_a_listing_by_post_pages_in_its_body(google: Google) -> None:
    from dataclasses import replace

    from clouds.gcp import methods

    method = methods.table("tpu")["projects.locations.nodes.list"]
    assert method.pages == "query"
    assert replace(method, pages="body").pages == "body"
    posts = [m for s in methods.services() for m in methods.table(s).values() if m.pages == "body"]
    for each in posts:
        google.on(f"{each.service}.{each.operation}", [{each.items: [], "nextPageToken": "t"}, {each.items: []}])
        sample = dict.fromkeys(each.in_path, "projects/p")
        google.api().send(Call(each.service, each.operation, {**sample, "body": {}}), scope=Scope(account="p"))
        assert google.asked[-1].body == {"pageToken": "t"}


def test_asked_shows_no_credential() -> None:
    assert "secret" not in repr(Asked("x", {}, {"Authorization": "Bearer secret"}))
