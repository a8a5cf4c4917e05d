"""One run: walk the measurements of one endpoint in a loop of its own, and write the file after every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

from clouds.base import Progress
from clouds.errors import CloudError, Unreachable
from tools.measure import host
from tools.measure.client import ModelClient
from tools.measure.client.learn import PROBE, learn
from tools.measure.draft import Draft, now
from tools.measure.gpu import Watch
from tools.measure.job import Job
from tools.measure.loop import Feed, in_own_loop
from tools.measure.measurement import Bench, Measurement, Taken
from tools.measure.record import HostCheck, Part, Run
from tools.measure.recording import part_of
from tools.measure.resuming import whole

AWAY = {"refused", "timeout", "cut"}
REFUSING = {401, 403, 404, 410, 502, 503}
"""How an endpoint that is no longer there is met: by itself, or through a cloud that no longer knows it."""
GONE_FIX = "get_endpoint shows whether it is still there; measure again once it is ready."


def measure(job: Job, progress: Progress) -> Run:
    """Measure one endpoint. The file says `failed` or `incomplete` when this raises.

    Raises CloudError when no reply can be had, and Cancelled when asked to stop.
    """
    draft = Draft(job)
    watch = Watch()
    steal = host.Steal()
    try:
        if job.here:
            watch.start()
        draft.change(host=HostCheck(calibration_ms_before=host.calibrate(), load_before=host.load_average()))
        draft.save()
        in_own_loop(lambda feed: _walk(job, draft, feed), progress)
    except BaseException as error:
        draft.failed(error)
        raise
    finally:
        draft.close(watch, steal)
    return draft.run


def refused(job: Job, error: CloudError) -> Run:
    """The run of something that could not even be asked: a failed one is a result too."""
    draft = Draft(job)
    draft.failed(error)
    draft.close(Watch(), host.Steal())
    return draft.run


async def _walk(job: Job, draft: Draft, feed: Feed) -> None:
    total = job.total or job.steps
    async with ModelClient(job.wire, job.limits) as client:
        feed.say(f"asking {job.subject.ref} for a first reply", job.done_before, total)
        draft.learned(await learn(client), client)
        job = _informed(job, draft)
        done = job.done_before

        def stepped(says: str) -> None:
            nonlocal done
            done += 1
            feed.say(f"{says}, done", done, total)

        there = {part.name for part in whole(job.earlier)}
        done += sum(each.plan(job.ask).steps for each in job.measurements if each.name in there)
        for measurement in (each for each in job.measurements if each.name not in there):
            feed.say(f"{measurement.name} begins: {measurement.title}", done, total)
            gone = await _measured(measurement, job, client, draft, stepped)
            if gone:
                draft.failed(Unreachable(f"Measuring {measurement.name}", answered=gone, fix=GONE_FIX))
                return


def _informed(job: Job, draft: Draft) -> Job:
    """The job with the context that the endpoint lists, where nobody knew it before: all that a bare URL tells."""
    engine = draft.run.engine
    if job.ask.context_tokens is not None or engine is None or engine.context_tokens is None:
        return job
    return replace(job, ask=replace(job.ask, context_tokens=engine.context_tokens))


async def _measured(
    measurement: Measurement, job: Job, client: ModelClient, draft: Draft, say: Callable[[str], None]
) -> str:
    """One measurement; whatever ends it early, what it had is kept. Returns why the endpoint is gone, if it is."""
    plan, taken = measurement.plan(job.ask), Taken()
    started, begun = now(), perf_counter()

    def part(*, complete: bool, gone: str = "") -> Part:
        seconds = perf_counter() - begun
        return part_of(measurement, plan, taken, complete=complete, started=started, seconds=seconds, gone=gone)

    def stepped(says: str) -> None:
        say(says)
        if draft.due:
            draft.put(part(complete=False))

    try:
        await measurement.run(plan, Bench(client, taken, stepped))
    except BaseException:
        draft.put(part(complete=False))
        raise
    gone = await _gone(client, taken)
    draft.put(part(complete=not gone, gone=gone))
    return gone


async def _gone(client: ModelClient, taken: Taken) -> str:
    """What the endpoint answers when its last request failed and one more fails too; empty while it is there."""
    last = next((reply for _, _, batch in reversed(taken.batches) for reply in reversed(batch.replies)), None)
    if last is None or last.ok or (last.kind not in AWAY and last.status not in REFUSING):
        return ""
    again = await client.one(PROBE)
    if again.ok or (again.kind not in AWAY and again.status not in REFUSING):
        return ""
    return f"the endpoint stopped answering ({again.kind}: {again.detail[:200]})"
