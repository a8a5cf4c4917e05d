"""Watches the pages of one answer: one that comes twice, that never ends or that is none is an error, not an answer.

botocore notices only a token that is the same as the one right before it. A page that is repeated under another token
would be counted twice, and tokens that go on for ever would be followed for ever. EC2 sends each list, also an empty
one, in every answer (all recorded ones, and its API reference, 2026-11): a page without is broken and not empty. Other
services leave out empty lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from clouds.errors import Unexpected
from clouds.models import Call

MOST = 20_000
"""Pages of one answer; at 1,000 rows each that is more than any account holds."""
MOST_EMPTY = 500
"""Empty pages one after the other; some are usual where AWS filters what it has read."""
_REPEATS = frozenset({"GetMetricData"})
"""Operations whose pages may look alike: a series of nothing goes on over several of them."""


class Watch:
    """Over the pages of one call. `page` raises Unexpected for one that cannot be."""

    def __init__(self, call: Call) -> None:
        self._call, self._pages, self._empty = call, 0, 0
        self._seen: set[str] = set()

    def page(self, values: Iterable[Any]) -> None:
        """One more page: what it holds; its lists are its rows."""
        self._pages += 1
        values = list(values)
        if self._call.service == "ec2" and self._call.operation[:8] == "Describe" and all(v is None for v in values):
            raise self.unexpected("a page without its list")
        lists = [value for value in values if isinstance(value, list) and value]
        self._empty = 0 if lists else self._empty + 1
        if self._pages > MOST or self._empty > MOST_EMPTY:
            raise self.unexpected("no last page")
        if not lists or self._call.operation in _REPEATS:
            return
        # The first and the last row tell pages apart; reading all of them would cost as much as the judgement.
        mark = repr([(len(rows), rows[0], rows[-1]) for rows in lists])
        if mark in self._seen:
            raise self.unexpected("the same page twice")
        self._seen.add(mark)

    def unexpected(self, answered: str) -> Unexpected:
        """The error that says what was wrong with the pages."""
        return Unexpected(
            f"reading {self._call} ({self._pages} pages so far)", answered=answered, fix="Repeat this call."
        )


@lru_cache(maxsize=1)
def iterator() -> type:
    """The SDK's iterator over pages, with a `watch` that is put to each one made."""
    from botocore.paginate import PageIterator

    class Watched(PageIterator):  # type: ignore[type-arg]  # of pages of any form
        """Raises Unexpected in the middle where the pages cannot be."""

        watch: Watch

        def __iter__(self) -> Iterator[Any]:
            for page in super().__iter__():
                self.watch.page(key.search(page) for key in self.result_keys or ())
                yield page

        def _make_request(self, current_kwargs: dict[str, Any]) -> Any:
            """The SDK's own copies a context to note in the user agent that it pages: a tenth of a call's time."""
            return self._method(**current_kwargs)  # type: ignore[attr-defined]  # its stub has no private names

    return Watched
