"""What a replay of AWS must refuse: everything that goes to a network without passing the seam under botocore."""

from __future__ import annotations

from typing import Any, NoReturn

from clouds.aws.endpoints.sagemaker import SageMaker
from clouds.models import EndpointRef, Wire
from clouds.replay import NotRecorded


def not_recorded(*about: Any) -> NoReturn:
    """Stands for an SSH connection, a registry's manifest and the question for our own address."""
    what = ", ".join(str(part)[:80] for part in about if isinstance(part, str))
    raise NotRecorded(
        f"asking the network outside AWS{f' about {what}' if what else ''}",
        answered="only AWS's own API is recorded",
        fix="Start the server without --replay to reach a real machine.",
        sent=False,
    )


class RecordedSageMaker(SageMaker):
    """SageMaker of recorded answers; a signed request to a model would leave this machine."""

    def connect(self, ref: EndpointRef) -> Wire:
        """Raises NotFound for an endpoint that was not recorded, and NotRecorded for one that was."""
        super().connect(ref)
        not_recorded(str(ref))
