"""The steps of a plan: each call with a sentence for a person and the Azure CLI's own command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clouds.azure.endpoints import cli, ending, parts
from clouds.azure.endpoints.containerapps import calls
from clouds.azure.endpoints.containerapps.calls import Build
from clouds.models import Call, PlanStep

_WORDS: Mapping[str, str] = {
    parts.GROUP: "make the resource group {name}",
    ending.WORKFLOW: "have a Logic App delete it at its end, {end}",
    ending.ASSIGNMENT: "give that Logic App the right to do so, in this group alone",
    f"{parts.ENVIRONMENT}.put": "make the environment {name} with the GPU profile{where}; it costs nothing by itself",
    f"{parts.ENVIRONMENT}.patch": "add the GPU profile to the environment {name}; it costs nothing by itself",
    parts.APP: "make the app{where}: {image} with {model}; a replica bills from when it is placed",
}


def of(first: Build, builds: Sequence[Build]) -> list[PlanStep]:
    """What all regions share first, then each region's own, in the order in which they are tried."""
    steps = [_step(call, first, "", several=False) for call in calls.shared(first)]
    for build in builds:
        steps += [_step(call, build, build.region, several=len(builds) > 1) for call in calls.of_region(build)]
    return steps


def _step(call: Call, build: Build, location: str, *, several: bool) -> PlanStep:
    words = _WORDS.get(str(call)) or _WORDS[call.service]
    head, _, digest = build.image.partition("@")
    text = words.format(
        name=str(call.parameters["id"]).rsplit("/", 1)[-1],
        end=f"{build.end:%Y-%m-%d %H:%M} UTC",
        where=f" in {build.region}" if several else "",
        image=f"{head} ({digest[:15]}…)",
        model=build.model,
    )
    return PlanStep(text=text, call=call, command=cli.command(call), creates=True, location=location)
