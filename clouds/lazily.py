"""Ports that are made when they are first asked for, so that connecting a cloud imports none of their code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import Any, TypeVar, cast

from clouds.base import EndpointService

T = TypeVar("T")


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


class _Later:
    """Stands for a port until one of its methods is asked for; then it is made, once."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make, self._made, self._lock = make, None, Lock()

    def __getattr__(self, name: str) -> Any:
        with self._lock:
            if self._made is None:
                self._made = self._make()
        return getattr(self._made, name)


def later(make: Callable[[], T]) -> T:
    """What `make` makes, made when it is first used: connecting a cloud imports none of its readers."""
    return cast("T", _Later(make))
