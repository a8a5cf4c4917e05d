"""measure_model: one endpoint, or several variants on one machine, measured and written down."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field

from clouds.base import Progress
from clouds.errors import InvalidInput
from tools import history
from tools.context import Clouds, Target
from tools.ledger import Book
from tools.measure import store
from tools.measure.catalogue import chosen, options_of
from tools.measure.comparing import report
from tools.measure.comparing.compare import compare
from tools.measure.cost import PriceUsed
from tools.measure.measured import MeasureResult, result_of
from tools.measure.measurement import Objective
from tools.measure.options import parse as parse_options
from tools.measure.profiles import PROFILES
from tools.measure.registering.plans import OPTIONS as PLAN_OPTIONS
from tools.measure.registering.plans import wanted
from tools.measure.report import notes_of, write_run
from tools.measure.variants import Variant, checked, parse
from tools.measure.walk import Wish, planned_only, walk
from tools.query import KeyVariable
from tools.registry import Effect, Tool
from tools.settings import Settings

MOST_AT_ONCE, MOST_LEVELS = 512, 8
MOST_USD, MOST_MS = 100_000, 600_000
MOST_VARIANTS = 12
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?")
Texts = tuple[str, ...]


def measure_model(
    endpoint: Target,
    clouds: Clouds,
    settings: Settings,
    book: Book,
    progress: Progress,
    measurements: Annotated[
        Texts,
        Field(
            description="usual: decode, load, answers; "
            "knee, paced, drafters, longcontext, ladder, decisions, toolcalls, functions"
        ),
    ] = (),
    profile: Annotated[str, Field(description="or quick (30 s)")] = "standard",
    levels: Annotated[tuple[int, ...], Field(description="at once; else 1, 4, 16")] = (),
    variants: Annotated[Texts, Field(description='then these, the base again: "slots=8" or an endpoint')] = (),
    price_usd_per_hour: Annotated[float, Field(description="0: the cloud's")] = 0,
    usd_per_million: Annotated[tuple[float, ...], Field(description="or: input, output tokens")] = (),
    objective_ms: Annotated[tuple[float, ...], Field(description="TTFT, per token")] = (),
    name: Annotated[str, Field(description="a-z 0-9 -")] = "",
    folder: Annotated[str, Field(description="in project or data directory")] = "",
    options: Annotated[Texts, Field(description='"ladder.limit=50"; a wrong one lists them')] = (),
    api_key_env: KeyVariable = "",
) -> MeasureResult:
    """Measure an endpoint or http(s) URL: speed, load, answers, cost.

    Writes a JSON run. Variants replace the engine; the base is put back.
    """
    target = endpoint.with_key_from(api_key_env, settings)
    _check(profile, levels, variants, name)
    asked = chosen(measurements)
    wish = Wish(
        measurements=asked,
        profile=PROFILES[profile],
        folder=store.folder_of(folder, book.home, settings.project),
        objective=_objective(objective_ms),
        levels=tuple(dict.fromkeys(levels)),
        price=_price(price_usd_per_hour, usd_per_million),
        name=name,
        options=(given := parse_options(options, options_of(asked) | PLAN_OPTIONS, (settings.project, book.home))),
        plans=wanted(given),
    )
    for each in asked:
        each.plan(wish.ask())  # what an option has wrong is said before anything is sent
    several = checked(parse(variants, target, clouds, book), book)
    if wish.plans.write is not None:
        return _written(several, wish, wish.plans.write)
    history.take(book, target.ref)  # two measurements of one endpoint, or a change meanwhile, spoil both
    found = walk(several, wish, book, progress)
    runs = [each.run for each in found if each.run.parts]
    pages = [write_run(each.path, each.run) for each in found if each.run.parts]
    compared = compare(runs) if len(runs) > 1 else None
    result = result_of(found, report.headline(compared) if compared else "")
    swept = report.drafters_lines(compared) if compared else ()
    return result.model_copy(update={"notes": (*result.notes, *swept, *notes_of(pages))})


def _written(variants: Sequence[Variant], wish: Wish, path: Path) -> MeasureResult:
    ref, sha256 = planned_only(variants, wish, path)
    return MeasureResult(
        headline=f"The plan is written, sha256 {sha256}; nothing was measured.",
        endpoint=ref,
        run="",
        state="planned",
        file=str(path),
        profile=wish.profile.name,
        seconds=0.0,
        notes=("Commit it: the commit shows that it was there before the run.",),
        next=f'the same call with "plan.file={wish.options.text("plan.write")}" in its options follows it.',
    )


def _check(profile: str, levels: tuple[int, ...], variants: Texts, name: str) -> None:
    """Raises InvalidInput: limits that would cost a model too many tokens as a schema."""
    if profile not in PROFILES:
        known = tuple(PROFILES)
        raise InvalidInput(
            "profile", f"{profile[:40]!r} is not known", fix=f"Known: {', '.join(known)}.", allowed=known
        )
    outside = [level for level in levels if not 1 <= level <= MOST_AT_ONCE]
    if len(levels) > MOST_LEVELS or outside:
        problem = f"{outside[0]} is not from 1 to {MOST_AT_ONCE}" if outside else f"are {len(levels)} numbers"
        fix = f"Give at most {MOST_LEVELS} whole numbers from 1 to {MOST_AT_ONCE}, with commas."
        raise InvalidInput("levels", problem, fix=fix)
    if len(variants) > MOST_VARIANTS:
        raise InvalidInput("variants", f"are {len(variants)}", fix=f"Use at most {MOST_VARIANTS} in one walk.")
    if name and not NAME.fullmatch(name):
        raise InvalidInput("name", f"{name[:60]!r} is not a name", fix="Use a-z, 0-9 and -, at most 48 characters.")


def _objective(given: tuple[float, ...]) -> Objective:
    if not given:
        return Objective()
    if len(given) > 2 or not all(0 <= each <= MOST_MS for each in given) or not any(given):
        bad = [each for each in given if not 0 <= each <= MOST_MS]
        problem = f"{bad[0]:g} is no time" if bad else "is no limit at all" if not any(given) else f"are {len(given)}"
        fix = f"Give ms to the first token, then ms a token, up to {MOST_MS:,}; 0 or nothing leaves one of them out."
        raise InvalidInput("objective_ms", problem, fix=fix)
    ttft, per_token = (*given, 0.0)[:2]
    return Objective(ttft or None, per_token or None)


def _price(per_hour: float, per_million: tuple[float, ...]) -> PriceUsed | None:
    """The price that the caller gave. Raises InvalidInput for one that cannot be used."""
    if not 0 <= per_hour <= MOST_USD:
        fix = f"Give US dollars an hour, above 0 and up to {MOST_USD:,}; 0 or nothing takes the cloud's price."
        raise InvalidInput("price_usd_per_hour", f"{per_hour:g} is no price", fix=fix)
    if per_million:
        bad = [each for each in per_million if not 0 <= each <= MOST_USD]
        if len(per_million) != 2 or bad or not per_million[1]:
            problem = f"{bad[0]:g} is no price" if bad else f"has {len(per_million)} of two prices"
            problem = problem if bad or len(per_million) != 2 else "has no price of output tokens"
            fix = f"Give US dollars per million input tokens (0 to {MOST_USD:,}), then output tokens (above 0)."
            raise InvalidInput("usd_per_million", problem, fix=fix)
    if per_hour and per_million:
        raise InvalidInput("usd_per_million", "was given beside a price per hour", fix="Give one of the two.")
    if not per_hour and not per_million:
        return None
    return PriceUsed(
        usd_per_hour=per_hour or None,
        usd_per_million_input=per_million[0] if per_million else None,
        usd_per_million_output=per_million[1] if per_million else None,
        as_of=f"{datetime.now(UTC):%Y-%m-%d}",
        source="given by the caller",
    )


MEASURE_MODEL = Tool(
    measure_model,
    title="Measure model",
    effect=Effect.WRITE,
    long=True,
    idempotent=False,
    aliases={"ref": "endpoint"},
)
