"""Reads one endpoint as it is now. Never generates a token, and keeps nothing: all of it is in AWS."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from clouds import enginelog
from clouds.aws import instances
from clouds.aws.api import AwsApi
from clouds.aws.endpoints import tags
from clouds.aws.endpoints.sagemaker import container, pools, state, streams
from clouds.aws.prices import AwsPrices
from clouds.errors import CloudError, NotFound
from clouds.models import Call, Endpoint, EndpointRef, EngineFacts, Hardware, Price, Scope

READS = (
    Call("sagemaker", "DescribeEndpoint"),
    Call("sagemaker", "DescribeEndpointConfig"),
    Call("sagemaker", "DescribeModel"),
    Call("sagemaker", "ListEndpoints"),
    Call("sagemaker", "ListEndpointConfigs"),
    Call("sagemaker", "ListModels"),
    Call("sagemaker", "ListTags"),
    Call("logs", "DescribeLogStreams"),
    Call("logs", "GetLogEvents"),
    Call("scheduler", "GetSchedule"),
    Call("iam", "GetRole"),
    Call("iam", "GetRolePolicy"),
    Call("sts", "GetCallerIdentity"),
    Call("pricing", "GetProducts"),
)
"""What looking at SageMaker endpoints sends, for the read-only allow-list."""


def describe(api: AwsApi, region: str, name: str) -> dict[str, Any]:
    """DescribeEndpoint. Raises NotFound."""
    answer: dict[str, Any] = api.send(
        Call("sagemaker", "DescribeEndpoint", {"EndpointName": name}), scope=Scope(region)
    )
    return answer


def of(api: AwsApi, prices: AwsPrices, ref: EndpointRef) -> Endpoint:
    """The endpoint with everything that AWS says of it. Raises NotFound."""
    answer = describe(api, ref.location, ref.name)
    with ThreadPoolExecutor(3) as pool:
        tagged = pool.submit(tags_of, api, ref.location, str(answer["EndpointArn"]))
        parts = pool.submit(parts_of, api, ref.location, str(answer.get("EndpointConfigName", "")))
        logged = pool.submit(streams.of, api, ref.location, ref.name, answer["CreationTime"])
    found = logged.result()
    lines = streams.head(api, ref.location, ref.name, found or ())
    return build(ref, answer, tagged.result(), parts.result(), found, lines, prices)


def tags_of(api: AwsApi, region: str, arn: str) -> dict[str, str]:
    """The tags of an ARN. Raises CloudError."""
    return tags.read(api.send(Call("sagemaker", "ListTags", {"ResourceArn": arn}), scope=Scope(region)).get("Tags"))


def describe_model(api: AwsApi, region: str, name: str) -> dict[str, Any]:
    """DescribeModel. Raises NotFound."""
    answer: dict[str, Any] = api.send(Call("sagemaker", "DescribeModel", {"ModelName": name}), scope=Scope(region))
    return answer


def parts_of(api: AwsApi, region: str, config_name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Configuration and container; empty where they are gone or unreadable (the endpoint itself is what matters)."""
    try:
        call = Call("sagemaker", "DescribeEndpointConfig", {"EndpointConfigName": config_name})
        config = api.send(call, scope=Scope(region))
    except CloudError:
        return {}, {}
    try:
        name = config["ProductionVariants"][0]["ModelName"]
        model = describe_model(api, region, name)
    except (CloudError, KeyError, IndexError):
        return config, {}
    return config, dict(model.get("PrimaryContainer", {}))


def build(
    ref: EndpointRef,
    answer: dict[str, Any],
    tagged: dict[str, str],
    parts: tuple[dict[str, Any], dict[str, Any]],
    logged: tuple[str, ...] | None,
    lines: tuple[enginelog.Line, ...],
    prices: AwsPrices,
) -> Endpoint:
    """Pure: the record from what was read."""
    config, image = parts
    ready = tags.moment(tagged.get(tags.READY, ""))
    seen = None if logged is None else bool(logged)
    texts = [text for _, text in lines]
    words = enginelog.progress_words(texts)
    now = state.standing(answer, logged=seen, generated=ready is not None, words=f"last seen: {words}" if words else "")
    placed, asked = state.placed_type(answer, config), state.asked_types(config)
    model = container.served_name(image)
    return Endpoint(
        ref=str(ref),
        state=now.state,
        cloud_status=str(answer["EndpointStatus"]),
        billing=now.billing,
        model=model,
        reason=now.reason,
        created=tags.stamp(answer["CreationTime"]),
        expires=tagged.get(tags.EXPIRES, "") if tags.moment(tagged.get(tags.EXPIRES, "")) else "",
        deployment=tagged.get(tags.DEPLOYMENT, ""),
        account=str(answer["EndpointArn"]).split(":")[4],
        engine=_engine(texts, image, answer, model),
        hardware=_hardware(placed),
        price=_price(prices, placed, asked, ref.location),
        phases=enginelog.phases(answer["CreationTime"], lines, _in_service(answer)),
    )


def _in_service(answer: dict[str, Any]) -> datetime | None:
    """When it became InService: its last change, as long as it has not been updated since (then the log is newer)."""
    found: datetime | None = answer.get("LastModifiedTime") if answer["EndpointStatus"] == "InService" else None
    return found


def _engine(texts: list[str], image: dict[str, Any], answer: dict[str, Any], model: str) -> EngineFacts | None:
    facts = enginelog.read(texts)
    exact = state.image_digest(answer) or str(image.get("Image", ""))
    if facts is None:
        return EngineFacts(engine="vllm", image=exact, model=model) if exact else None
    return facts.model_copy(update={"image": exact, "model": facts.model or model})


def _hardware(placed: str) -> Hardware | None:
    if not placed:
        return None
    row = instances.find(placed)
    if row is None:
        return Hardware(instance_type=placed)
    return Hardware(
        instance_type=placed,
        accelerators=(row.accelerator,) * row.accelerators,
        cores=row.vcpus,
        memory_bytes=row.memory_mib * 1024**2,
        accelerator_memory_bytes=row.accelerators * row.accelerator_mib * 1024**2,
    )


def _price(prices: AwsPrices, placed: str, asked: tuple[str, ...], region: str) -> Price | None:
    """The placed type's price; the dearest of the pool while nobody says which was placed."""
    if placed:
        return prices.current(pools.key(placed), region)
    known = [price for kind in asked if (price := prices.current(pools.key(kind), region))]
    if not asked or len(known) < len(asked):
        return None
    dearest = max(known, key=lambda price: price.amount)
    return dearest.model_copy(update={"basis": f"on demand, dearest of {len(known)} types"})


def gone(api: AwsApi, region: str, name: str) -> bool:
    """Whether AWS no longer knows the endpoint. Raises CloudError when it does not say."""
    try:
        describe(api, region, name)
    except NotFound:
        return True
    return False
