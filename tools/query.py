"""query_model and check_health: one request to a model, and three questions whose answers are known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from clouds import openai
from clouds.base import Progress
from clouds.errors import CloudError, InvalidInput, NotFound, PermissionMissing, Throttled, Unreachable
from clouds.models import Record, Wire
from tools import history, starting
from tools.binding import MULTILINE
from tools.context import Target
from tools.fitting import bounded
from tools.ledger import Book
from tools.registry import Effect, Tool
from tools.result import Result, quoted
from tools.secrecy import clean
from tools.settings import Settings

KeyVariable = Annotated[str, Field(description="bare URLs: environment variable holding the key (…_API_KEY)")]


class Answered(Result):
    """One reply. `text_of_model` comes from the model: it is data."""

    endpoint: str
    model: str
    text_of_model: str
    reasoning: str = ""
    finish_reason: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float
    tokens_per_second: float | None = None

    def body(self) -> str:
        """The reply as a quoted block, so that nothing in it reads as ours."""
        lines = "\n".join(f"> {line}" for line in self.text_of_model.splitlines() or [""])
        thought = (
            "\n\nreasoning:\n" + "\n".join(f"> {line}" for line in self.reasoning.splitlines())
            if self.reasoning
            else ""
        )
        figures = [f"{self.endpoint} · {self.model} · finish reason {self.finish_reason}"]
        for word, value in (("prompt", self.prompt_tokens), ("completion", self.completion_tokens)):
            if value is not None:
                figures.append(f"{word} tokens {value:,}")
        figures.append(f"{self.seconds:.3g} s")
        if self.tokens_per_second is not None:
            figures.append(f"{self.tokens_per_second:.4g} tokens/s with everything included")
        return lines + thought + "\n\n" + " · ".join(figures)


def query_model(
    endpoint: Target,
    prompt: Annotated[str, MULTILINE, Field(min_length=1, max_length=400_000)],
    settings: Settings,
    progress: Progress,
    system: Annotated[str, MULTILINE, Field(max_length=100_000)] = "",
    max_tokens: Annotated[int, Field(ge=1, le=32_768)] = 256,
    temperature: Annotated[float, Field(ge=0, le=2)] = 0,
    timeout_seconds: Annotated[float, Field(gt=0, le=40)] = 40,
    api_key_env: KeyVariable = "",
) -> Answered:
    """Send one chat request to an endpoint (ref, name or http(s) URL) and return the reply with tokens and seconds.

    For figures worth quoting use measure_model.
    """
    target = endpoint.with_key_from(api_key_env, settings)
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": prompt})

    def ask(seconds: float) -> openai.Reply:
        with target.wire() as wire:
            return openai.chat(wire, messages, max_tokens=max_tokens, temperature=temperature, timeout=seconds)

    reply = starting.answered(target, ask, timeout_seconds, progress)
    tokens = reply.usage.get("completion_tokens")
    rate = tokens / reply.seconds if tokens and reply.seconds > 0 else None
    cut = reply.finish_reason == "length"
    return Answered(
        headline=f"{target.ref} answered with {'an unknown number of' if tokens is None else f'{tokens:,}'} tokens "
        f"in {reply.seconds:.3g} s{', cut off at max_tokens' if cut else ''}.",
        endpoint=target.ref,
        model=reply.model,
        text_of_model=bounded(reply.text, 20_000),
        reasoning=bounded(reply.reasoning, 4_000),
        finish_reason=reply.finish_reason or "not given",
        prompt_tokens=reply.usage.get("prompt_tokens"),
        completion_tokens=tokens,
        seconds=round(reply.seconds, 4),
        tokens_per_second=None if rate is None else round(rate, 2),
        next=f'`measure_model("{target.ref}")` for figures worth quoting.',
    )


class Probe(Record):
    """One question whose answer is known. `right`: the reply holds it as a word. The reply is the model's: data."""

    question: str
    expected: str
    right: bool
    reply: str
    seconds: float | None = None


class Health(Result):
    """Whether an endpoint answers, and whether it answers sense."""

    endpoint: str
    healthy: bool
    right: int
    asked: int
    probes: tuple[Probe, ...]

    @property
    def is_error(self) -> bool:
        """No question was answered, so that nothing is known of its sense."""
        return all(probe.seconds is None for probe in self.probes)


QUESTIONS = (
    ("Continue the sequence with the next number only: 1, 2, 3, 4, 5,", "6"),
    ("Complete with one word: The capital of France is", "Paris"),
    ("Repeat exactly this word and nothing else: banana", "banana"),
)
"""Asked of every model, small ones too; an engine that answers rubbish with status 200 gets none right."""
ENOUGH = 2
"""Right answers of a healthy model: an engine that only echoes gets the third one right and no other."""


def _probe(wire: Wire, question: str, expected: str, seconds: float) -> tuple[Probe, CloudError | None]:
    """One question; what went wrong with it is its reply, and beside it. Raises InvalidInput."""
    try:
        messages = [{"role": "user", "content": question}]
        reply = openai.chat(wire, messages, max_tokens=24, temperature=0, timeout=seconds)
    except InvalidInput:
        raise
    except CloudError as error:
        why = f"no answer: {clean(str(error))}"[:200]
        return Probe(question=question, expected=expected, right=False, reply=why), error
    said = reply.text or reply.reasoning
    found = Probe(
        question=question,
        expected=expected,
        right=re.search(rf"(?<!\w){expected}(?!\w)", said, re.IGNORECASE) is not None,
        reply=quoted(said, 120),
        seconds=round(reply.seconds, 3),
    )
    return found, None


def _refused(errors: Sequence[CloudError]) -> str:
    """How a server refused that did answer: "HTTP 500", or what its answer was instead of a reply; else empty."""
    there = [error for error in errors if not isinstance(error, Unreachable)]
    return ", ".join(dict.fromkeys(error.code or error.kind.replace("_", " ") for error in there))


def _unwell(ref: str, errors: Sequence[CloudError]) -> str:
    """What to do about an endpoint that is not healthy."""
    if waits := [error for error in errors if isinstance(error, Throttled)]:
        return f"{waits[0].fix} It refuses for the number of requests, not for their words."
    if errors and isinstance(errors[0], PermissionMissing | NotFound | Unreachable) and history.is_url(ref):
        return errors[0].fix
    return history.its_log(ref)


def check_health(
    endpoint: Target,
    settings: Settings,
    book: Book,
    progress: Progress,
    timeout_seconds: Annotated[float, Field(gt=0, le=12)] = 12,
    api_key_env: KeyVariable = "",
) -> Health:
    """Ask three questions with known answers, since an engine can answer rubbish with status 200.

    Healthy: every request is answered and at least two of the three replies hold the answer.
    """
    target = endpoint.with_key_from(api_key_env, settings)

    def ask(_left: float = 0.0) -> list[tuple[Probe, CloudError | None]]:
        with target.wire() as wire:
            return [_probe(wire, question, expected, timeout_seconds) for question, expected in QUESTIONS]

    asked = starting.answered(target, ask, timeout_seconds, progress)
    silent = not any(probe.seconds is not None for probe, _ in asked)
    if silent and starting.waited(target, timeout_seconds, progress):
        asked = ask()
    probes, errors = tuple(probe for probe, _ in asked), [error for _, error in asked if error is not None]
    good = sum(probe.right for probe in probes)
    answered = sum(probe.seconds is not None for probe in probes)
    healthy = answered == len(probes) and good >= ENOUGH
    history.judged(book, target.ref, healthy=healthy, right=good, asked=len(probes), answered=answered)
    refused = _refused(errors)
    verdict = "healthy" if healthy else "not healthy" if answered or refused else "not reachable"
    held = f"{good} of {len(probes)} replies hold the answer, {answered} answered" if answered else ""
    told = f"{held}{'; ' if held and refused else ''}{f'it is there and answers {refused}' if refused else ''}"
    return Health(
        headline=f"{target.ref} is {verdict}: {told or 'no question was answered'}.",
        endpoint=target.ref,
        healthy=healthy,
        right=good,
        asked=len(probes),
        probes=probes,
        notes=()
        if not answered
        else ("Right: the reply holds the expected word. What else it says, and how well, is not judged here.",),
        next="" if healthy else _unwell(target.ref, errors),
    )


QUERY_MODEL = Tool(query_model, title="Query model", effect=Effect.WRITE, idempotent=False, aliases={"ref": "endpoint"})
CHECK_HEALTH = Tool(check_health, title="Check health", effect=Effect.WRITE, aliases={"ref": "endpoint"})
