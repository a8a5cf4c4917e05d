"""Plans a machine on EC2: reads only, every place in its order, the worst price."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from clouds.aws import cli, images
from clouds.aws.api import AwsApi
from clouds.aws.endpoints import elsewhere, preflight, tags
from clouds.aws.endpoints.ec2 import calls, machine, places, serving
from clouds.aws.endpoints.ec2 import settings as options
from clouds.aws.endpoints.ec2.calls import Build
from clouds.aws.endpoints.ec2.places import Choice
from clouds.aws.endpoints.sagemaker.container import fits
from clouds.aws.images import Ami
from clouds.aws.instances import Instance
from clouds.aws.prices import AwsPrices
from clouds.base import QuotaReader
from clouds.errors import CloudError, Conflict, InvalidInput, NotFound
from clouds.models import (
    Call,
    DeploymentPlan,
    DeploymentSpec,
    EndpointRef,
    EngineFacts,
    Hardware,
    PlanStep,
    Scope,
)

DISK_NOTE = "its disk (gp3, encrypted) bills besides and goes with the machine"


@dataclass(frozen=True)
class Planner:
    """Makes plans. `digest` reads an image's digest and `address` our public address: both ask outside AWS."""

    api: AwsApi
    quotas: QuotaReader
    prices: AwsPrices
    digest: Callable[[str], str]
    address: Callable[[], str]

    def plan(self, spec: DeploymentSpec, now: datetime) -> DeploymentPlan:
        """No side effects. Raises InvalidInput before anything is sent, then what the account does not allow."""
        chosen = options.choose(spec.settings)
        preflight.check_name(spec.name, calls.LONGEST_NAME)
        preflight.check_numbers(spec)
        warnings = list(serving.check(spec.model, chosen.engine))
        rows = places.candidates(spec)
        if chosen.engine == "vllm" and (
            word := fits(spec.model, rows[0].accelerator, rows[0].accelerators, rows[0].accelerator_mib)
        ):
            warnings.append(word)
        what = serving.of(spec.model, "pending:image", rows[0].accelerators, chosen, spec.settings)
        serving.arguments(what)
        regions = preflight.regions(spec, self.api)
        who = preflight.caller(self.api, regions[0])
        found = [self._choice(spec, chosen, rows, region) for region in regions]
        usable = [choice for choice in found if choice.places]
        if not usable:
            least = min(row.vcpus for row in rows)
            raise elsewhere.told(nowhere(found), self.quotas, [row.type for row in rows], regions, least=least)
        served = serving.of(spec.model, self._image(chosen), rows[0].accelerators, chosen, spec.settings)
        end, source = now + timedelta(hours=spec.ttl_hours), chosen.ssh_from or self.address()
        steps: list[PlanStep] = []
        for choice in usable:
            build = Build(
                name=spec.name, region=choice.region, account=who.account, owner=who.owner, end=end,
                ami=self._ami(chosen, choice.region), serving=served, chosen=chosen, ssh_from=source,
                max_usd_per_hour=spec.max_usd_per_hour,
            )  # fmt: skip
            steps += _steps(build, choice, who, len(usable))
        first = usable[0]
        listed = first.prices or {}
        return DeploymentPlan(
            spec=spec,
            ref=EndpointRef("aws", "ec2", first.region, spec.name),
            steps=tuple(steps),
            price=listed[first.places[0].row.type],
            worst_usd_per_hour=max(price.amount for choice in usable for price in (choice.prices or {}).values()),
            hardware=hardware(first.places[0].row),
            engine=EngineFacts(**serving.facts(served)),
            left_out=tuple(word for choice in found for word in choice.left_out),
            warnings=(
                *(_prices(choice) for choice in usable),
                *warnings,
                *(word for choice in found for word in choice.warnings),
                DISK_NOTE,
            ),
        )

    def _choice(self, spec: DeploymentSpec, chosen: options.Chosen, rows: Sequence[Instance], region: str) -> Choice:
        try:
            ours = self._name(spec.name, region)
            return places.choose(spec, chosen, rows, region, self.api, self.prices, self.quotas, ours=ours)
        except (InvalidInput, Conflict):
            raise
        except CloudError as error:
            return Choice(region, left_out=(f"{region}: {error}",), refused=error)

    def _name(self, name: str, region: str) -> bool:
        """Whether a machine of that name is ours already. Raises Conflict for a foreign group of that name."""
        call = {"Filters": [{"Name": "group-name", "Values": [calls.label(name)]}]}
        groups = self.api.send(Call("ec2", "DescribeSecurityGroups", call), scope=Scope(region)).get(
            "SecurityGroups", []
        )
        if any(not tags.read(group.get("Tags")).get(tags.DEPLOYMENT) for group in groups):
            raise Conflict(
                f"planning {name} in {region}",
                answered=f"a security group {calls.label(name)} exists there that modelrig did not make",
                fix="Choose another name.",
            )
        try:
            machine.find(self.api, EndpointRef("aws", "ec2", region, name))
        except NotFound:
            return False
        return True

    def _image(self, chosen: options.Chosen) -> str:
        """The image by digest; a tag that may move is resolved now."""
        image = chosen.image or serving.IMAGES[chosen.engine]
        if "@sha256:" in image:
            return image
        named = image if "." in image.split("/", 1)[0] and "/" in image else f"docker.io/{image}"
        named = named if ":" in named.rsplit("/", 1)[-1] else f"{named}:latest"
        return f"{named}@{self.digest(named)}"

    def _ami(self, chosen: options.Chosen, region: str) -> Ami:
        if not chosen.ami:
            return images.newest_ami(self.api, region)
        found = self.api.send(Call("ec2", "DescribeImages", {"ImageIds": [chosen.ami]}), scope=Scope(region))["Images"]
        if not found:
            raise NotFound(
                f"looking for {chosen.ami} in {region}", answered="no such image", fix="Name one of that region."
            )
        image = found[0]
        return Ami(
            chosen.ami, str(image.get("Name", "")), "", str(image.get("RootDeviceName", "/dev/sda1")), 0, "named"
        )


def hardware(row: Instance) -> Hardware:
    """What a type is."""
    return Hardware(
        instance_type=row.type,
        accelerators=(row.accelerator,) * row.accelerators,
        cores=row.vcpus,
        memory_bytes=row.memory_mib * 1024**2,
        accelerator_memory_bytes=row.accelerators * row.accelerator_mib * 1024**2,
    )


def _steps(build: Build, choice: Choice, who: preflight.Caller, regions: int) -> list[PlanStep]:
    where = f" in {build.region}" if regions > 1 else ""
    words = {
        "CreateRole": f"make a role that may read one secret{where}",
        "PutRolePolicy": f"allow it that secret alone{where}",
        "CreateInstanceProfile": f"make a profile for the machine{where}",
        "AddRoleToInstanceProfile": f"put the role into the profile{where}",
        "CreateSecurityGroup": f"make a security group{where}",
        "AuthorizeSecurityGroupIngress": f"open it for SSH from {build.ssh_from} alone; the model's port stays closed",
    }
    steps, number = [], 0
    for call in calls.in_order(build, choice.places):
        if call.operation == "RunInstances":
            place = choice.places[number]
            begin = "start" if number == 0 else "if none is free there: start"
            ends = f"it ends itself at {build.end:%Y-%m-%d %H:%M} UTC"
            text = f"{begin} one {place.row.type} ({build.chosen.market}) in {place.zone}; {ends}"
            number += 1
        else:
            text = words[call.operation]
        command = cli.command(call, build.region, profile=who.profile, account=who.account)
        steps.append(PlanStep(text=text, call=call, command=command, creates=True, location=build.region))
    return steps


def _prices(choice: Choice) -> str:
    listed = choice.prices or {}
    first = next(iter(listed.values()))
    rows = ", ".join(f"{kind} ${price.amount:g}/h" for kind, price in listed.items())
    return f"{choice.region}: {rows} ({first.basis}, {first.source}, {first.as_of})"


def nowhere(found: Sequence[Choice]) -> CloudError:
    """The one error of all regions: the first one's kind, with every region's words."""
    refusals = [choice.refused for choice in found if choice.refused is not None]
    if len(found) == 1 and refusals:
        return refusals[0]
    words = "; ".join(word for choice in found for word in choice.left_out)[:1500]
    first = refusals[0] if refusals else None
    if first is None or isinstance(first, InvalidInput):
        fields = {getattr(one, "field", "") for one in refusals}
        field = "max_usd_per_hour" if fields == {"max_usd_per_hour"} else "regions"
        fix = first.fix if first else "Name other regions."
        return InvalidInput(field, f"no region can be used: {words}", fix=fix)
    return type(first)("planning over all regions", answered=words, code=first.code, fix=first.fix)
