"""What the two APIs that make machines have to offer, so that one way to create, watch and delete serves both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from clouds.errors import CloudError
from clouds.gcp.endpoints.hardware import Shape
from clouds.gcp.endpoints.machines.held import Held
from clouds.gcp.endpoints.tunnel import Target
from clouds.models import Call, EndpointRef, Read, Scope


class World(Protocol):
    """Compute Engine, or the TPU API."""

    @property
    def word(self) -> str:
        """The service's name in a ref."""

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """What it makes."""

    def find(self, ref: EndpointRef) -> Held:
        """The machine of that name, dead or alive. Raises NotFound."""

    def read(self, ref: EndpointRef) -> Held:
        """The same by Google's own package where it has one: for a question, not for a wait. Raises NotFound."""

    def all(self, scope: Scope) -> Read[Held]:
        """Every machine of ours; places that could not be looked at are unread."""

    def lines(self, held: Held) -> tuple[str, ...] | None:
        """Its log, oldest first, without a tunnel; None when it could not be read."""

    def label(self, held: Held, pairs: Mapping[str, str]) -> None:
        """Set labels on it; the others stay."""

    def tell(self, held: Held, values: Mapping[str, str]) -> None:
        """Set metadata on it; the rest stays."""

    def parts(self, ref: EndpointRef) -> tuple[Call, ...]:
        """Creating calls, as far as `parts.KINDS` reads them, of all that may exist of that name, in deleting order."""

    def failure(self, held: Held, tried: str) -> CloudError | None:
        """Why a request that failed did so, as the error that it is; None when the cloud does not say."""

    def target(self, held: Held, port: int) -> Target:
        """Where a tunnel to one of its ports goes."""
