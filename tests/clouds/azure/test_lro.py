from __future__ import annotations

from typing import Any

import pytest

from clouds.azure.lro import Begun
from clouds.errors import NoCapacity, NotFound, PermissionMissing, QuotaTooSmall, Unexpected, Unreachable
from clouds.models import Call, Scope
from tests.clouds.azure.rig import ARM, SUBSCRIPTION, Answer, problem, rig

APP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.App/containerApps/gemma"
OPERATION = f"{ARM}/subscriptions/{SUBSCRIPTION}/providers/Microsoft.App/locations/eastus/operations/1?t=2&s=sig"
HERE = Scope("eastus", SUBSCRIPTION)
PUT = Call("Microsoft.App/containerApps", "put", {"id": APP, "body": {"location": "eastus"}})
DELETE = Call("Microsoft.App/containerApps", "delete", {"id": APP})


def state(word: str) -> dict[str, Any]:
    return {"properties": {"provisioningState": word}}


def test_an_operation_is_looked_at_where_azure_said_until_its_body_says_that_it_ended() -> None:
    api, network, clock = rig(
        {
            f"PUT {APP}": (201, state("InProgress"), {"Azure-AsyncOperation": OPERATION, "Retry-After": "7"}),
            f"GET {OPERATION}": [
                (200, {"status": "InProgress"}),
                (200, {"status": "Succeeded", "properties": {"x": 1}}),
            ],
        }
    )
    begun = api.begin(PUT, scope=HERE)
    assert (begun.how, begun.wait, "sig" in repr(begun)) == ("operation", 7.0, False)
    assert api.poll(begun) == {"status": "Succeeded", "properties": {"x": 1}}
    assert (clock.slept, network.sent[1].url) == ([7.0], OPERATION)


def test_an_operation_that_failed_is_an_http_200_and_an_error_with_its_deepest_code() -> None:
    failed = {
        "status": "Failed",
        "error": {"code": "ResourceOperationFailure", "message": "x", "details": [{"code": "AllocationFailed"}]},
    }
    api, _, _ = rig(
        {
            f"PUT {APP}": (201, state("InProgress"), {"Azure-AsyncOperation": OPERATION}),
            f"GET {OPERATION}": (200, failed),
        }
    )
    with pytest.raises(NoCapacity) as told:
        api.poll(api.begin(PUT, scope=HERE))
    assert told.value.code == "AllocationFailed"


@pytest.mark.parametrize("word", ["Failed", "Canceled"])
def test_an_end_without_a_reason_is_still_no_success(word: str) -> None:
    api, _, _ = rig(
        {
            f"PUT {APP}": (201, state("InProgress"), {"Azure-AsyncOperation": OPERATION}),
            f"GET {OPERATION}": (200, {"status": word}),
        }
    )
    with pytest.raises(Unexpected, match=f"it ended as {word}"):
        api.poll(api.begin(PUT, scope=HERE))


def test_a_write_that_failed_at_once_with_a_200_is_an_error() -> None:
    body = {"properties": {"provisioningState": "Failed"}, "error": {"code": "QuotaExceeded", "message": "no"}}
    api, _, _ = rig({f"PUT {APP}": (200, body)})
    with pytest.raises(QuotaTooSmall):
        api.begin(PUT, scope=HERE)


def test_with_only_a_location_the_status_decides() -> None:
    api, network, clock = rig(
        {
            f"DELETE {APP}": (202, None, {"Location": OPERATION, "Retry-After": "3"}),
            f"GET {OPERATION}": [(202, None, {"Retry-After": "4"}), (204, None)],
        }
    )
    begun = api.begin(DELETE, scope=HERE)
    assert begun.how == "location"
    assert api.poll(begun) is None
    assert (clock.slept, len(network.sent)) == ([4.0], 3)


def test_without_a_header_the_resource_says_how_far_it_is() -> None:
    api, network, _ = rig(
        {f"PUT {APP}": (201, state("Updating")), f"GET {APP}": [(200, state("Updating")), (200, state("Succeeded"))]}
    )
    begun = api.begin(PUT, scope=HERE)
    assert begun.how == "resource"
    assert api.poll(begun) == state("Succeeded")
    assert network.paths == [f"PUT {APP}", f"GET {APP}", f"GET {APP}"]


def test_a_delete_of_what_is_not_there_is_a_success_that_says_so() -> None:
    answers: tuple[Answer, ...] = ((204, None), (404, problem("ResourceNotFound")))
    for answer in answers:
        api, _, _ = rig({f"DELETE {APP}": answer})
        begun = api.begin(DELETE, scope=HERE)
        assert (begun.gone, begun.how) == (True, "done")
        assert api.poll(begun) is None


def test_a_delete_of_a_type_that_arm_does_not_know_is_no_success() -> None:
    api, _, _ = rig({f"DELETE {APP}": (404, problem("InvalidResourceType"))})
    with pytest.raises(Unexpected):
        api.begin(DELETE, scope=HERE)


def test_a_delete_whose_operation_is_forgotten_has_ended() -> None:
    api, _, _ = rig(
        {
            f"DELETE {APP}": (202, None, {"Azure-AsyncOperation": OPERATION}),
            f"GET {OPERATION}": (404, problem("NotFound")),
        }
    )
    assert api.look(api.begin(DELETE, scope=HERE)).state == "succeeded"


def test_a_creation_whose_operation_is_forgotten_is_not_known_to_have_ended() -> None:
    api, _, _ = rig(
        {
            f"PUT {APP}": (201, state("InProgress"), {"Azure-AsyncOperation": OPERATION}),
            f"GET {OPERATION}": (404, problem("NotFound")),
        }
    )
    with pytest.raises(NotFound):
        api.look(api.begin(PUT, scope=HERE))


def test_an_operation_on_another_host_is_not_followed() -> None:
    api, network, _ = rig(
        {f"PUT {APP}": (201, state("InProgress"), {"Azure-AsyncOperation": "https://evil.example/1"})}
    )
    with pytest.raises(Unexpected, match=r"not on management\.azure\.com"):
        api.begin(PUT, scope=HERE)
    assert len(network.sent) == 1


def test_a_location_that_is_the_address_itself_is_not_looked_at() -> None:
    api, _, _ = rig({f"PUT {APP}": (201, state("Succeeded"), {"Location": f"{ARM}{APP}"})})
    assert api.begin(PUT, scope=HERE).how == "done"


def test_what_is_refused_is_an_error_and_nothing_is_polled() -> None:
    api, network, _ = rig({f"PUT {APP}": (403, problem("AuthorizationFailed", "no"))})
    with pytest.raises(PermissionMissing):
        api.begin(PUT, scope=HERE)
    assert len(network.sent) == 1


def test_what_takes_too_long_is_left_alone_and_said() -> None:
    api, _, _ = rig(
        {
            f"PUT {APP}": (201, state("InProgress"), {"Azure-AsyncOperation": OPERATION}),
            f"GET {OPERATION}": (200, {"status": "InProgress"}),
        }
    )
    with pytest.raises(Unreachable, match="still InProgress after 60 s"):
        api.poll(api.begin(PUT, scope=HERE), timeout=60)


class Told:
    """A progress that hears, and stops when it was asked to."""

    def __init__(self, stop_after: int) -> None:
        self.said: list[str] = []
        self.stop_after = stop_after

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        self.said.append(message)

    def check(self) -> None: ...

    def sleep(self, seconds: float) -> None:
        self.stop_after -= 1
        if self.stop_after < 0:
            raise KeyboardInterrupt


def test_waiting_says_how_far_it_is_and_can_be_stopped() -> None:
    api, _, clock = rig({f"GET {OPERATION}": (200, {"status": "InProgress"})})
    progress = Told(1)
    begun = Begun("PUT", 201, None, "operation", "making gemma", APP, OPERATION, 5.0, SUBSCRIPTION)
    with pytest.raises(KeyboardInterrupt):
        api.poll(begun, progress=progress)
    assert (progress.said, clock.slept) == (["making gemma: InProgress"] * 2, [])


def test_a_delete_without_a_header_has_ended_when_the_resource_is_gone_and_not_when_it_says_succeeded() -> None:
    api, network, _ = rig(
        {
            f"DELETE {APP}": (202, None),
            f"GET {APP}": [(200, state("Succeeded")), (200, state("Deleting")), (404, problem("ResourceNotFound"))],
        }
    )
    assert api.poll(api.begin(DELETE, scope=HERE)) is None
    assert len(network.sent) == 4


def test_a_post_that_was_only_accepted_is_looked_at_on_its_resource() -> None:
    api, _, _ = rig(
        {f"POST {APP}/stop": (202, None), f"GET {APP}": [(200, state("Updating")), (200, state("Succeeded"))]}
    )
    begun = api.begin(Call("Microsoft.App/containerApps", "stop", {"id": APP}), scope=HERE)
    assert (begun.how, api.poll(begun)) == ("resource", state("Succeeded"))


def test_a_post_action_has_its_operation_too() -> None:
    stop = Call("Microsoft.App/containerApps", "stop", {"id": APP})
    api, _, _ = rig(
        {f"POST {APP}/stop": (202, None, {"Location": OPERATION}), f"GET {OPERATION}": (200, state("Succeeded"))}
    )
    assert api.poll(api.begin(stop, scope=HERE)) == state("Succeeded")
