"""A run while it is being made: one file, written again after every step, closed with what is known only at the end."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from time import perf_counter

from clouds.errors import CloudError
from tools.measure import cost, host, listing, store
from tools.measure.cautions import judge
from tools.measure.client import ModelClient
from tools.measure.gpu import Watch
from tools.measure.job import Job
from tools.measure.loop import loop_name
from tools.measure.record import SCHEMA_VERSION, CostRow, HostCheck, Part, Run
from tools.measure.registering.departures import unfinished
from tools.measure.resuming import OPERATION, whole
from tools.result import quoted

SAVE_SECONDS = 1.0
"""A step that ends sooner after the last writing is written with the next one."""


class Draft:
    """The run as far as it is, and its file."""

    def __init__(self, job: Job) -> None:
        self._job, self._begun, self._saved = job, perf_counter(), 0.0
        self.run = Run(
            schema_version=SCHEMA_VERSION,
            id=job.path.stem,
            name=job.name,
            state="incomplete",
            missing=tuple(each.name for each in job.measurements),
            started=job.earlier.started if job.earlier else now(),
            profile=job.ask.profile.name,
            subject=job.subject,
            engine=job.engine,
            hardware=job.hardware,
            price=job.price,
            client=host.client_info(loop_name()),
            plan=job.planned(job) if job.planned else None,
            parts=whole(job.earlier),
            settings={
                "measurements": ", ".join(each.name for each in job.measurements),
                "levels": ", ".join(map(str, job.ask.at)),
                "prompt_nonce": job.ask.nonce,
                **({OPERATION: job.operation} if job.operation else {}),
                **({"resumed_at": now()} if job.earlier else {}),
            },
            formulas={name: words for each in job.measurements for name, words in each.formulas.items()},
        )

    @property
    def due(self) -> bool:
        """Whether it is time to write again."""
        return time.monotonic() - self._saved > SAVE_SECONDS

    def change(self, **fields: object) -> None:
        """The same run with other fields."""
        self.run = self.run.model_copy(update=fields)

    def save(self) -> None:
        """Write it."""
        store.save(self._job.path, self.run)
        self._saved = time.monotonic()

    def learned(self, listed: Mapping[str, object], client: ModelClient) -> None:
        """What the first reply showed: the model's name, and which optional fields are sent."""
        subject = self.run.subject.model_copy(
            update={"model": self.run.subject.model or quoted(client.model)[1:-1], "listed": listing.plain(listed)}
        )
        sent = {
            "temperature": 0 if client.dialect.temperature else None,
            "fields_refused": ", ".join(client.dialect.left_out),
            "limit_field": client.dialect.limit,
            "stall_limit_seconds": client.limits.gap,
            "first_byte_limit_seconds": client.limits.first,
        }
        self.change(
            subject=subject,
            engine=self.run.engine or listing.facts(listed),
            settings={**self.run.settings, **sent},
        )
        self.save()

    def put(self, part: Part) -> None:
        """Take a part in, in place of its earlier state, and write."""
        others = tuple(each for each in self.run.parts if each.name != part.name)
        self.change(parts=(*others, part), missing=self._missing((*others, part)))
        self.save()

    def failed(self, error: BaseException) -> None:
        """Remember why it ended; only our own words, never a raw exception's."""
        words = str(error) if isinstance(error, CloudError) else type(error).__name__
        self.change(failure=quoted(words, 500)[1:-1], state="failed" if not self.run.parts else "incomplete")

    def close(self, watch: Watch, steal: host.Steal) -> None:
        """What can only be known at the end: host, accelerators, costs, warnings, and whether it is complete."""
        run = self.run
        batches = [batch for part in run.parts for batch in part.batches]
        before = run.host or HostCheck(calibration_ms_before=())
        check = before.model_copy(
            update={
                "calibration_ms_after": host.calibrate(),
                "load_after": host.load_average(),
                "steal_percent": steal.percent(),
                "client_cpu_peak": max((batch.client_cpu for part in run.parts for batch in part.counted), default=0.0),
                "client_lag_p99_ms": max(
                    (batch.client_lag_p99_ms for batch in batches if batch.client_lag_p99_ms is not None), default=None
                ),
            }
        )
        seconds = perf_counter() - self._begun + sum(part.seconds for part in whole(self._job.earlier))
        sent = [each for batch in batches for each in batch.requests]
        untold = any(each.kind == "ok" and each.prompt_tokens is None for each in sent)
        tokens_in = None if untold else sum(each.prompt_tokens or 0 for each in sent)
        tokens_out = sum(each.tokens for each in sent)
        state = run.state if run.state == "failed" or run.failure or run.missing else "complete"
        self.change(
            host=check,
            accelerators=watch.stop(),
            costs=_costs(run),
            run_usd=cost.cost_of_run(run.price, seconds, tokens_in, tokens_out),
            spent_usd=self._job.spent(),
            ended=now(),
            seconds=round(seconds, 3),
            state=state,
        )
        if run.plan is not None:
            self.change(plan=unfinished(run.plan, run.missing, run.failure, now()))
        self.change(warnings=judge(self.run))
        self.save()

    def _missing(self, parts: tuple[Part, ...]) -> tuple[str, ...]:
        """What was asked for and is not there: whole parts, and the figures that a part exists for."""
        there = {part.name for part in parts if part.complete}
        empty = [
            f"{figure.label}: {figure.why}"
            for part in parts
            if part.complete
            for figure in part.figures
            if figure.main and figure.value is None
        ]
        return (*(each.name for each in self._job.measurements if each.name not in there), *empty)


def _costs(run: Run) -> tuple[CostRow, ...]:
    load = run.part("load")
    rows = []
    counted = load.counted if load else ()
    for level in dict.fromkeys(batch.at_once for batch in counted):
        requests = [each for batch in counted if batch.at_once == level for each in batch.requests]
        told = [(each.prompt_tokens, each.tokens) for each in requests if each.kind == "ok" and each.prompt_tokens]
        tokens = sum(each for _, each in told)
        figure = run.figure(f"load.{level}.tokens_per_second")
        rate = figure.value if figure else None
        usd = cost.cost_at(run.price, rate, sum(each for each, _ in told) / tokens if tokens else None)
        if usd is not None:
            hourly = run.price.usd_per_hour if run.price else None
            inverse = cost.rate_per_dollar(hourly, rate) if hourly and rate else None
            rows.append(CostRow(at_once=level, usd_per_million_output=usd, tokens_per_second_per_usd_hour=inverse))
    return tuple(rows)


def now() -> str:
    """The moment, in UTC, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")
