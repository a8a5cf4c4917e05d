"""Ports that are made when they are first asked for, so that connecting a cloud imports none of their code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from threading import Lock

from clouds.base import EndpointService


class Services(Mapping[str, EndpointService]):
    """Services by name, in their order. Each is made once, at the first look at it, also from several threads."""

    def __init__(self, makers: Mapping[str, Callable[[], EndpointService]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, EndpointService] = {}
        self._lock = Lock()

    def __getitem__(self, name: str) -> EndpointService:
        with self._lock:
            if name not in self._made:
                self._made[name] = self._makers[name]()
            return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __contains__(self, name: object) -> bool:
        return name in self._makers
