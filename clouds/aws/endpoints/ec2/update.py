"""Changes the machine that is held: another end, or another model or flags for its engine. Nothing else starts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from clouds.aws.api import AwsApi
from clouds.aws.endpoints import tags
from clouds.aws.endpoints.ec2 import calls, userdata
from clouds.aws.endpoints.ec2.serving import Serving
from clouds.aws.endpoints.ec2.ssh import Shell
from clouds.base import Ledger, Progress
from clouds.errors import InvalidInput, Unexpected
from clouds.models import Call, Change, EndpointRef, Scope

FIXED = frozenset({"engine", "image", "market", "disk_gib", "zones", "subnet", "ami", "ssh_from", "hf_token_from"})


@dataclass(frozen=True)
class Changer:
    """One change of one machine."""

    api: AwsApi
    ledger: Ledger
    progress: Progress

    def check(self, change: Change) -> None:
        """Raises InvalidInput for what cannot change in place, before anything is sent."""
        if change.ttl_hours is not None and not 1 / 12 <= change.ttl_hours <= 24 * 30:
            raise InvalidInput(
                "ttl_hours", f"{change.ttl_hours:g} is not from 0.0834 to 720", fix="Give hours from now."
            )
        fixed = sorted(FIXED & set(change.settings or {}))
        if fixed:
            raise InvalidInput(
                "settings", f"{', '.join(fixed)} cannot change in place", fix="Delete it and deploy again."
            )

    def end(self, ref: EndpointRef, row: dict[str, Any], shell: Shell, hours: float, now: datetime) -> None:
        """Move the timer on the machine, then say so in its tags. The tags are never ahead of the machine."""
        end = now + timedelta(hours=hours)
        shell.run(userdata.new_end(end))
        self._tag(ref, row, {tags.EXPIRES: tags.stamp(end)})
        deployment = tags.read(row.get("Tags")).get(tags.DEPLOYMENT, "")
        if deployment:
            self.ledger.remember(deployment, {"expires": tags.stamp(end)})

    def engine(self, ref: EndpointRef, row: dict[str, Any], shell: Shell, change: Change) -> Serving:
        """Stop the engine, start it with what changes, wait until it answers. It stays not ready until a token came."""
        text = shell.run("cat /etc/modelrig/serving.json")
        try:
            held = Serving.read(text)
        except (ValueError, TypeError):
            raise Unexpected(
                f"changing {ref}", answered="the machine does not hold what it serves with",
                fix="Delete it and deploy again.",
            ) from None  # fmt: skip
        fresh = held.changed(change.model, change.settings or {})
        self.progress.report(f"{ref.location}: starting {fresh.model} on {row['InstanceId']}")
        # not ready from here on: what answered before is gone
        self._tag(ref, row, {tags.READY: "", calls.MODEL: tags.clean(fresh.model)})
        shell.run(userdata.new_serving(fresh))
        return fresh

    def ready(self, ref: EndpointRef, row: dict[str, Any], now: datetime) -> None:
        """Say that a token came."""
        self._tag(ref, row, {tags.READY: tags.stamp(now)})

    def _tag(self, ref: EndpointRef, row: dict[str, Any], pairs: dict[str, str]) -> None:
        call = Call(
            "ec2",
            "CreateTags",
            {
                "Resources": [str(row["InstanceId"])],
                "Tags": [{"Key": key, "Value": value} for key, value in pairs.items()],
            },
        )
        self.api.send(call, scope=Scope(ref.location))
