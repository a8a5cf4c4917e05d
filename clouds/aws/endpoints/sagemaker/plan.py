"""Plans a SageMaker deployment: reads only, and everything that AWS would refuse late is refused here first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from clouds.aws import cli, images
from clouds.aws.api import AwsApi
from clouds.aws.endpoints import elsewhere, preflight, roles
from clouds.aws.endpoints import model as models
from clouds.aws.endpoints.parts import KINDS, kind_of
from clouds.aws.endpoints.sagemaker import calls, container, pools, schedule
from clouds.aws.endpoints.sagemaker import settings as options
from clouds.aws.endpoints.sagemaker.calls import Build
from clouds.aws.endpoints.sagemaker.pools import Pool
from clouds.aws.instances import Instance
from clouds.aws.prices import AwsPrices
from clouds.aws.words import profile_named
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
    Price,
    Scope,
)

UNVERIFIED_SECRET = (
    "that AWS's vLLM image reads a Hugging Face token from HF_TOKEN_SECRET_ARN is not verified (2026-11-29); "  # noqa: S105 - a sentence
    "weights in S3 (model=s3://bucket/prefix/) need no token"
)
UNVERIFIED_RETRY = (
    "its end is kept by EventBridge Scheduler; how that retries a deletion which an endpoint still Creating refuses is "
    "not verified, so a second deletion follows when it can no longer be Creating"
)


@dataclass(frozen=True)
class Planner:
    """Makes plans from what the account, its quotas and its prices say now."""

    api: AwsApi
    quotas: QuotaReader
    prices: AwsPrices

    def plan(self, spec: DeploymentSpec, now: datetime) -> DeploymentPlan:
        """No side effects. Raises InvalidInput before anything is sent, then what the account does not allow."""
        chosen = options.choose(spec.settings)
        preflight.check_name(spec.name, schedule.LONGEST_NAME)
        preflight.check_numbers(spec)
        warnings = list(models.check_for_vllm(spec.model))
        if chosen.tool_calls:
            models.tool_parser(spec.model)
        rows = pools.candidates(spec)
        preflight.check_copies(chosen.tensor_parallel_size, rows[0].accelerators)
        if word := container.fits(spec.model, rows[0].accelerator, rows[0].accelerators, rows[0].accelerator_mib):
            warnings.append(word)
        end = now + timedelta(hours=spec.ttl_hours)
        places = preflight.regions(spec, self.api)
        who = preflight.caller(self.api, places[0])
        found = [self._pool(spec, rows, region) for region in places]
        usable = [pool for pool in found if pool.types]
        if not usable:
            raise elsewhere.told(_nowhere(found), self.quotas, [row.ml for row in rows], places)
        builds = [self._build(spec, chosen, pool, who, end) for pool in usable]
        steps = self._shared(builds[0], chosen) + [step for build in builds for step in _steps(build, who, len(builds))]
        warnings += [word for pool in found for word in pool.warnings]
        warnings += [UNVERIFIED_SECRET] if chosen.hf_token_from else []
        first = usable[0]
        return DeploymentPlan(
            spec=spec,
            ref=EndpointRef("aws", "sagemaker", first.region, spec.name),
            steps=tuple(steps),
            price=first.prices[0],
            worst_usd_per_hour=max(price.amount for pool in usable for price in pool.prices),
            hardware=_hardware(first),
            engine=EngineFacts(
                engine="vllm", image=builds[0].image, model=spec.model, context_tokens=chosen.max_model_len
            ),
            left_out=tuple(word for pool in found for word in pool.left_out),
            warnings=(*(_prices(pool) for pool in usable), *warnings, UNVERIFIED_RETRY),
        )

    def _pool(self, spec: DeploymentSpec, rows: Sequence[Instance], region: str) -> Pool:
        """One region's pool; a name that something else holds there, or a region that refuses us, leaves it out."""
        try:
            ours = self._name(spec.name, region)
            return pools.choose(spec, rows, region, self.prices, self.quotas, ours=ours)
        except (InvalidInput, Conflict):
            raise
        except CloudError as error:
            return Pool(region, (), (), (f"{region}: {error}",), refused=error)

    def _name(self, name: str, region: str) -> bool:
        """Whether an endpoint of that name is ours already. Raises Conflict when a foreign resource has the name."""
        held = False
        for operation, parameter in (
            ("CreateEndpoint", "EndpointName"),
            ("CreateEndpointConfig", "EndpointConfigName"),
            ("CreateModel", "ModelName"),
        ):
            kind = KINDS[f"sagemaker.{operation}"]
            found = kind.look(self.api, Scope(region), {parameter: name})
            if found is None:
                continue
            if not found.deployment:
                raise Conflict(
                    f"planning {name} in {region}",
                    answered=f"a {kind.word} named {name} exists there that modelrig did not make",
                    fix="Choose another name.",
                )
            held = held or operation == "CreateEndpoint"
        return held

    def _build(
        self, spec: DeploymentSpec, chosen: options.Chosen, pool: Pool, who: preflight.Caller, end: datetime
    ) -> Build:
        found = None if chosen.image else images.newest_vllm(self.api, pool.region)
        image = found.exact if found else chosen.image
        words = f"vLLM {found.version} ({found.tag}, {found.digest[:15]}…)" if found else image.rsplit("/", 1)[-1]
        return Build(
            name=spec.name,
            model=spec.model,
            region=pool.region,
            account=who.account,
            owner=who.owner,
            end=end,
            image=image,
            types=pool.names,
            accelerators=pool.types[0].accelerators,
            chosen=chosen,
            image_words=words,
        )

    def _shared(self, build: Build, chosen: options.Chosen) -> list[PlanStep]:
        """The roles, as far as they are missing, and what this deployment needs of them besides."""
        wanted: list[Call] = []
        account, region = build.account, build.region
        execution = chosen.role.rsplit("/", 1)[-1] or roles.EXECUTION
        if not chosen.role:
            wanted += [
                roles.create(
                    execution, "sagemaker.amazonaws.com", account, build.owner, "modelrig: runs model endpoints"
                ),
                roles.put(execution, execution, roles.execution_policy(account, region)),
            ]
        extra = roles.extra_policy(region, image=build.image, secret=chosen.hf_token_from, model=build.model)
        if extra:
            wanted.append(roles.put(execution, f"modelrig-{build.name}", extra))
        wanted += [
            roles.create(
                roles.SCHEDULER, "scheduler.amazonaws.com", account, build.owner, "modelrig: ends deployments"
            ),
            roles.put(roles.SCHEDULER, roles.SCHEDULER, roles.scheduler_policy(account, region)),
        ]
        missing = [call for call in wanted if not self._there(call, region)]
        return [_step(call, build, _WORDS[str(call)].format(**call.parameters)) for call in missing]

    def _there(self, call: Call, region: str) -> bool:
        try:
            return kind_of(call).look(self.api, Scope(region), call.parameters) is not None
        except NotFound:
            return False


_WORDS = {
    "iam.CreateRole": "make the role {RoleName} (shared by all deployments, costs nothing, stays)",
    "iam.PutRolePolicy": "give {RoleName} the least it needs ({PolicyName})",
}


def _steps(build: Build, who: preflight.Caller, regions: int) -> list[PlanStep]:
    types, where = ", ".join(build.types), f" in {build.region}" if regions > 1 else ""
    words = {
        "CreateModel": f"make the model: {build.image_words[:140]} with {build.model}{where}",
        "CreateEndpointConfig": f"make the endpoint config: first free of {types}, "
        f"up to {build.chosen.capacity_wait_seconds} s for an instance{where}",
        "CreateSchedule": "schedule the deletion of its {part} for {when}" + where,
        "CreateEndpoint": f"make the endpoint{where}; it bills from the moment an instance is placed",
    }
    steps = []
    for call in calls.in_order(build):
        text = words[call.operation]
        if call.operation == "CreateSchedule":
            part = call.parameters["Name"].rsplit("-", 1)[-1]
            moment = schedule.end_of(call.parameters["ScheduleExpression"])
            text = text.format(
                part="endpoint (again)" if part == "again" else part, when=f"{moment:%Y-%m-%d %H:%M} UTC"
            )
        steps.append(_step(call, build, text, who))
    return steps


def _step(call: Call, build: Build, text: str, who: preflight.Caller | None = None) -> PlanStep:
    profile = who.profile if who else profile_named()
    command = cli.command(call, build.region, profile=profile, account=build.account)
    return PlanStep(text=text, call=call, command=command, creates=True, location=build.region)


def _prices(pool: Pool) -> str:
    rows = [f"{name} ${price.amount:g}/h" for name, price in zip(pool.names, pool.prices, strict=True)]
    return f"{pool.region}: {', '.join(rows)} ({pool.prices[0].source}, {pool.prices[0].as_of})"


def _hardware(pool: Pool) -> Hardware:
    row = pool.types[0]
    return Hardware(
        instance_type=row.ml,
        accelerators=(row.accelerator,) * row.accelerators,
        cores=row.vcpus,
        memory_bytes=row.memory_mib * 1024**2,
        accelerator_memory_bytes=row.accelerators * row.accelerator_mib * 1024**2,
    )


def _nowhere(found: Sequence[Pool]) -> CloudError:
    """The one error of all regions: the first one's kind, with every region's words."""
    refusals = [pool.refused for pool in found if pool.refused is not None]
    if len(found) == 1 and refusals:
        return refusals[0]
    words = "; ".join(word for pool in found for word in pool.left_out)[:1500]
    first = refusals[0] if refusals else None
    if isinstance(first, InvalidInput) or first is None:
        fields = {getattr(one, "field", "") for one in refusals}
        field = "max_usd_per_hour" if fields == {"max_usd_per_hour"} else "regions"
        fix = first.fix if first else "Name other regions."
        return InvalidInput(field, f"no region can be used: {words}", fix=fix)
    return type(first)("planning over all regions", answered=words, code=first.code, fix=first.fix)


def price_of(prices: AwsPrices, kind: str, region: str) -> Price | None:
    """The price of a hosting type from the tables; looking at an endpoint asks no price list."""
    return prices.price(pools.key(kind), region)
