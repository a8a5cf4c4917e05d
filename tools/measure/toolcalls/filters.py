"""Filters over ids as models write them, read by a small grammar and judged by what they select, never as text.

or     = and ("or" and)*            and    = not ("and" not)*          not = "not" not | "(" or ")" | test
test   = value (sign value)+        5 <= id < 9, id = 3
       | "id" ["not"] "between" number "and" number
       | "id" ["not"] "in" "(" number ("," number)* ")"
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Sequence

from clouds.errors import InvalidInput

LONGEST = 4000
DEEPEST = 40
Test = Callable[[float], bool]
_TOKEN = re.compile(r"\s*(?:(-?\d+(?:\.\d+)?)|(<=|>=|==|!=|<>|[<>=()\[\],≤≥≠])|(&&|\|\||[A-Za-z_][A-Za-z_.]*))")
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "≤": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "≥": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "≠": operator.ne,
}
_WORDS = {"&&": "and", "||": "or", "where": ""}


def select(where: str, ids: Iterable[int]) -> list[int]:
    """The ids that a filter selects, in their order. An empty filter selects all. Raises InvalidInput."""
    test = compiled(where)
    return [each for each in ids if test(each)]


def compiled(where: str) -> Test:
    """Read a filter. Raises InvalidInput with the place where it stops making sense."""
    if len(where) > LONGEST:
        raise InvalidInput("where", f"it has {len(where):,} characters", fix=_FIX)
    reader = _Reader(_tokens(where))
    if not reader.left:
        return lambda _: True
    test = reader.either(0)
    if reader.left:
        raise InvalidInput("where", f"{reader.left[0]!r} was not expected there", fix=_FIX)
    return test


_FIX = 'Write it like "id >= 10", "id > 4 and id < 9" or "id between 5 and 9".'


def _tokens(where: str) -> list[str]:
    found, place = [], 0
    text = where.strip().strip(";")
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            if not text[place:].strip():
                break
            raise InvalidInput("where", f"{text[place : place + 20]!r} cannot be read", fix=_FIX)
        word = match[3]
        token = match[1] or match[2] or _WORDS.get(word.lower(), word.lower())
        if token:
            found.append(token)
        place = match.end()
    return found


class _Reader:
    """Recursive descent over the tokens that are left."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.left = list(tokens)

    def take(self, *expected: str) -> str:
        if not self.left or (expected and self.left[0] not in expected):
            found = repr(self.left[0]) if self.left else "its end"
            raise InvalidInput("where", f"{' or '.join(expected) or 'more'} was expected before {found}", fix=_FIX)
        return self.left.pop(0)

    def either(self, depth: int) -> Test:
        tests = [self.both(depth)]
        while self.left and self.left[0] == "or":
            self.take()
            tests.append(self.both(depth))
        return tests[0] if len(tests) == 1 else lambda value: any(test(value) for test in tests)

    def both(self, depth: int) -> Test:
        tests = [self.negated(depth)]
        while self.left and self.left[0] == "and":
            self.take()
            tests.append(self.negated(depth))
        return tests[0] if len(tests) == 1 else lambda value: all(test(value) for test in tests)

    def negated(self, depth: int) -> Test:
        if depth > DEEPEST:
            raise InvalidInput("where", "it is nested too deep", fix=_FIX)
        if self.left and self.left[0] == "not":
            self.take()
            inner = self.negated(depth + 1)
            return lambda value: not inner(value)
        if self.left and self.left[0] == "(":
            self.take()
            inner = self.either(depth + 1)
            self.take(")")
            return inner
        return self.test()

    def test(self) -> Test:
        first = self.value()
        if first is None and self.left and self.left[0] in {"not", "between", "in"}:
            return self.listed()
        terms, signs = [first], []
        while self.left and self.left[0] in _SIGNS:
            signs.append(_SIGNS[self.take()])
            terms.append(self.value())
        if not signs or all(term is not None for term in terms):
            raise InvalidInput("where", "it compares nothing with id", fix=_FIX)

        def holds(value: float) -> bool:
            known = [value if term is None else term for term in terms]
            return all(sign(a, b) for sign, a, b in zip(signs, known, known[1:], strict=False))

        return holds

    def listed(self) -> Test:
        turned = self.left[0] == "not" and bool(self.take())
        if self.take("between", "in") == "between":
            low = self.number()
            self.take("and")
            high = self.number()
            return lambda value: (low <= value <= high) != turned
        close = ")" if self.take("(", "[") == "(" else "]"
        members = {self.number()}
        while self.take(",", close) == ",":
            members.add(self.number())
        return lambda value: (value in members) != turned

    def value(self) -> float | None:
        """A number, or None for the id itself."""
        token = self.take()
        if token in {"id", "ids", "x", "i", "value"}:
            return None
        try:
            return float(token)
        except ValueError as error:
            raise InvalidInput("where", f"{token[:30]!r} is neither id nor a number", fix=_FIX) from error

    def number(self) -> float:
        value = self.value()
        if value is None:
            raise InvalidInput("where", "a number was expected instead of id", fix=_FIX)
        return value
