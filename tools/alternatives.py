"""What the accelerator of a plan costs elsewhere: every service of every cloud here, from the tables on disk."""

from __future__ import annotations

from contextlib import suppress

from clouds.base import Cloud, Missing
from clouds.errors import CloudError, InvalidInput
from clouds.models import DeploymentPlan, Hourly
from clouds.models import accelerator as known_accelerator
from tools.context import Clouds
from tools.figures import rate


def alternatives(clouds: Clouds, cloud: Cloud, plan: DeploymentPlan) -> tuple[tuple[str, ...], str]:
    """One sentence with the hour in each service, cheapest first; none where there is nothing to compare.

    Beside it the call that plans the cheapest one, where that is another service and costs less; else "".
    """
    carried = plan.hardware.accelerators if plan.hardware else ()
    if not carried or isinstance(cloud.prices, Missing):
        return (), ""
    try:
        word = known_accelerator(plan.spec.accelerator or carried[0])
    except InvalidInput:
        return (), ""
    found, without = list[tuple[str, Hourly]](), list[str]()
    for name in clouds.names:
        try:
            there = clouds.get(name)
            if isinstance(there.prices, Missing):
                continue
            rows = there.hourly(word, len(carried))
        except CloudError as error:
            without.append(f"{name} ({error.kind.replace('_', ' ')})")
            continue
        found += [(name, each) for each in rows]
        if not rows:
            without.append(f"{name} (none with a rate)")
    if not found:
        return (), ""
    found.sort(key=lambda each: each[1].price.amount)
    listed = "; ".join(_words(name, each) for name, each in found)
    dates = sorted({each.price.as_of for _, each in found})
    dated = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    none = f" Left out: {', '.join(without)}." if without else ""
    head = f"{len(carried)} x {word} by the hour in the cheapest place of each service, by the price tables here"
    note = f"{head} ({dated}; quota and free machines not looked at): {listed}.{none}"
    return (note,), _call(plan, *found[0], word)


def _call(plan: DeploymentPlan, name: str, best: Hourly, word: str) -> str:
    same = (name, best.service) == (plan.ref.cloud, plan.ref.service)
    if same or plan.price is None or best.price.amount >= plan.price.amount:
        return ""
    return f'`plan_deployment(cloud="{name}", service="{best.service}", accelerator="{word}")` plans the cheapest one.'


def service_with(cloud: Cloud, accelerator: str) -> str:
    """The first service of a cloud that has this accelerator with a rate; empty where none is known to."""
    with suppress(CloudError):
        having = {each.service for each in cloud.hourly(known_accelerator(accelerator), 1)}
        return next((name for name in cloud.endpoints if name in having), "")
    return ""


def _words(name: str, each: Hourly) -> str:
    unusual = "" if each.price.basis.startswith("on demand") else f", {each.price.basis}"
    return f"{name}:{each.service} {rate(each.price.amount)} ({each.machine} in {each.location}{unusual})"
