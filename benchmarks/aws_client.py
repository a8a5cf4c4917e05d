"""What our SageMaker client adds to a call: 16 streams at once against a loopback endpoint of known truth.

The endpoint (its own process) sends the first token after 50 ms and one each 10 ms, as AWS event-stream frames, and
says at the end how long it really took from the first byte of the request. What a reply takes beyond that is the
client's and the loopback's. Beside it: what signing costs by itself, and boto3's own plain call at the same endpoint.

    python benchmarks/aws_client.py            three rounds, every figure printed
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

STREAMS, ROUNDS, TOKENS, FIRST, EACH = 16, 3, 40, 0.050, 0.010
BAR_MS = 5.0


def serve() -> None:
    """The endpoint; prints its port and serves until its standard input ends."""
    from tests.clouds.aws.simulator import http
    from tests.clouds.aws.simulator.runtime import Script

    http.signed_well = lambda *_: True  # what AWS spends on checking is not the client's
    with http.RuntimeServer(Script(words=("tok ",) * TOKENS), first=FIRST, each=EACH) as server:
        print(server.port, flush=True)
        sys.stdin.read()


def account() -> Any:
    import botocore.session

    from clouds.aws.api import AwsApi

    def build() -> Any:
        session = botocore.session.Session()
        session.set_credentials("AKIASIMULATED", "not-a-secret", "a-session-token")
        return session

    return AwsApi(build=build, attempts=1)


async def measured(wire: Any) -> tuple[list[float], list[float], list[float]]:
    """Milliseconds beyond what the endpoint itself says it took, of whole replies and first tokens; and CPU a reply."""
    from tools.measure.client import ModelClient
    from tools.measure.client.request import ChatRequest

    async with ModelClient(wire) as client:
        requests = [ChatRequest("Say something long.", max_tokens=TOKENS, label=str(n)) for n in range(STREAMS)]
        await client.together(requests[:2])
        whole, first, worked = [], [], []
        for _ in range(ROUNDS):
            start = time.process_time()
            batch = await client.together(requests)
            worked.append((time.process_time() - start) * 1000 / STREAMS)
            assert all(reply.ok and reply.tokens == TOKENS for reply in batch.replies)
            whole += [(r.last - r.sent - r.engine["last_s"]) * 1000 for r in batch.replies]
            first += [(r.first - r.sent - r.engine["first_s"]) * 1000 for r in batch.replies]
        return whole, first, worked


def figures(name: str, values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    row = {
        "median": statistics.median(ordered),
        "p95": ordered[int(0.95 * (len(ordered) - 1))],
        "max": ordered[-1],
    }
    print(f"{name:44} " + "  ".join(f"{key} {value:6.2f} ms" for key, value in row.items()) + f"  n={len(ordered)}")
    return row


def main() -> int:
    from clouds.aws.endpoints.sagemaker import invoke

    server = subprocess.Popen(
        [sys.executable, __file__, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        api = account()
        image = {"Environment": {"SM_VLLM_MODEL": "google/gemma-4-E2B-it"}}
        wire = replace(invoke.wire(api, "us-east-2", "gemma", image), url=f"http://127.0.0.1:{port}")
        sign, body = wire.sign, json.dumps({"messages": [], "max_tokens": 16}).encode()
        assert sign is not None
        sign("POST", wire.url + wire.path, body)
        spent = []
        for _ in range(300):
            start = time.perf_counter()
            sign("POST", wire.url + wire.path, body)
            spent.append((time.perf_counter() - start) * 1000)
        print(f"{STREAMS} at once, {TOKENS} tokens, first after {FIRST * 1000:.0f} ms, one each {EACH * 1000:.0f} ms")
        figures("signing one request", spent)
        whole, first, worked = asyncio.run(measured(wire))
        figures("our client, first token beyond the truth", first)
        figures("our client, processor time a reply", worked)
        row = figures("our client, whole reply beyond the truth", whole)
        figures("boto3 InvokeEndpoint, one call after another", plain(port, body))
    finally:
        server.communicate("")
    good = row["median"] <= BAR_MS
    verdict = "met" if good else "NOT met"
    print(f"bar: {BAR_MS:g} ms a call: {verdict} by the median; the articles' CLI cost 560 to 630 ms")
    return 0 if good else 1


def plain(port: int, body: bytes) -> list[float]:
    """The SDK's own client; the endpoint answers a plain call at once."""
    import botocore.session
    from botocore.config import Config

    session = botocore.session.Session()
    session.set_credentials("AKIASIMULATED", "not-a-secret")
    config = Config(retries={"total_max_attempts": 1})
    client = session.create_client(
        "sagemaker-runtime", region_name="us-east-2", endpoint_url=f"http://127.0.0.1:{port}", config=config
    )
    spent = []
    for _ in range(50):
        start = time.perf_counter()
        client.invoke_endpoint(EndpointName="gemma", ContentType="application/json", Body=body)["Body"].read()
        spent.append((time.perf_counter() - start) * 1000)
    return spent


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        sys.exit(main())
