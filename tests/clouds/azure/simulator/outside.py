"""What is not ARM: the app's own address, the scoring address, a replica's log, the registry, the price list."""

from __future__ import annotations

import json
from typing import Any

import httpx2

from tests.clouds.azure.simulator import apps
from tests.clouds.azure.simulator.subscription import Resource, Subscription
from tests.clouds.azure.simulator.wire import Drift, answer

DIGEST = "sha256:" + "ab" * 32


def handle(account: Subscription, request: httpx2.Request, body: Any) -> httpx2.Response:
    host = request.url.host
    if host.endswith(".azurecontainerapps.io"):
        return _app(account, request, body)
    if host.endswith(".azurecontainerapps.dev"):
        return _log(account, request)
    if host.endswith(".inference.ml.azure.com"):
        return _scoring(account, request, body)
    if host == "prices.azure.com":
        return _prices(account, request)
    if "/manifests/" in request.url.path:
        if "authorization" not in request.headers:
            challenge = f'Bearer realm="https://{host}/token",service="{host}"'
            return answer(401, {}, {"WWW-Authenticate": challenge})
        return answer(200, {}, {"Docker-Content-Digest": DIGEST})
    if request.url.path == "/token":
        return answer(200, {"token": "anonymous"})
    raise Drift(f"the simulator has no {request.method} {request.url}")


def _app(account: Subscription, request: httpx2.Request, body: Any) -> httpx2.Response:
    name = request.url.host
    app = next(
        (one for one in account.of(apps.APP) if one.properties["configuration"]["ingress"]["fqdn"] == name), None
    )
    if app is None:
        return answer(404, "Error 404 - This Container App is stopped or does not exist.")
    if not apps.request(account, app):
        raise httpx2.ReadTimeout("the ingress holds the request", request=request)
    if request.url.path == "/health":
        return answer(200, "")
    if request.headers.get("authorization") != f"Bearer {app.held['secrets']['api-key']}":
        return answer(401, {"error": "Unauthorized"})
    return answer(200, completion(account, body))


def completion(account: Subscription, body: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": account.words}
    count = len(account.words.split())
    usage = {"prompt_tokens": 12, "completion_tokens": count, "total_tokens": 12 + count}
    return {"model": body.get("model"), "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def _log(account: Subscription, request: httpx2.Request) -> httpx2.Response:
    place = request.url.path.partition("/revisions/")[0]
    app: Resource | None = account.find(place)
    if app is None or request.headers.get("authorization") != f"Bearer log-token-of-{app.name}":
        return answer(401, "Unauthorized")
    lines = [json.dumps({"TimeStamp": at, "Log": text}) for at, text in apps.log(account, app)]
    return answer(200, "\n".join(lines[-int(request.url.params["tailLines"]) :]))


def _scoring(account: Subscription, request: httpx2.Request, body: Any) -> httpx2.Response:
    from tests.clouds.azure.simulator import ml

    return ml.score(account, request, body)


def _prices(account: Subscription, request: httpx2.Request) -> httpx2.Response:
    condition = request.url.params["$filter"]
    items = [
        {
            "type": "Consumption",
            "currencyCode": "USD",
            "armRegionName": region,
            "meterName": meter,
            "productName": "Azure Container Apps" if "Usage" in meter else "Virtual Machines NC Series",
            "skuName": meter.removesuffix(" Usage"),
            "armSkuName": "" if "Usage" in meter else meter,
            "unitOfMeasure": "1 GiB Second" if "Memory" in meter else "1 Second" if "Usage" in meter else "1 Hour",
            "retailPrice": usd,
            "tierMinimumUnits": 0.0,
            "effectiveStartDate": "2026-09-01T00:00:00Z",
            "isPrimaryMeterRegion": True,
        }
        for (region, meter), usd in account.rates.items()
        if f"'{region}'" in condition and f"'{meter}'" in condition
    ]
    return answer(200, {"Items": items, "NextPageLink": None, "Count": len(items)})
