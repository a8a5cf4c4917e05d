"""Talking to the model: the wire for the one streaming client, and the one token that makes an endpoint ready."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from clouds.aws.api import AwsApi
from clouds.aws.endpoints.sagemaker import container
from clouds.base import Progress
from clouds.errors import CloudError
from clouds.models import Call, Scope, Wire

QUESTION = {
    "messages": [{"role": "user", "content": "Reply with the single word: ok"}],
    "max_tokens": 8,
    "temperature": 0,
}
TRIES, PAUSE = 5, 10.0
AWAITED = "sagemaker-runtime.InvokeEndpoint"


def awaited(name: str) -> Call:
    """The wait for a first token, as the ledger has it: open from CreateEndpoint until the token came."""
    return Call("sagemaker-runtime", "InvokeEndpoint", {"EndpointName": name})


def wire(api: AwsApi, region: str, name: str, image: Mapping[str, Any]) -> Wire:
    """Requests go to the runtime's own address, signed one by one; what streams comes as AWS event-stream frames."""
    client = api.client("sagemaker-runtime", region)
    return Wire(
        url=str(client.meta.endpoint_url).rstrip("/"),
        path=f"/endpoints/{name}/invocations-response-stream",
        plain_path=f"/endpoints/{name}/invocations",
        model=container.served_name(image),
        sign=signer(api, region),
        frames="aws-event-stream",
    )


def signer(api: AwsApi, region: str) -> Callable[[str, str, bytes], Mapping[str, str]]:
    """Signs one request with the credential as it is now; botocore renews it when it is about to end."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest

    def sign(method: str, url: str, body: bytes) -> dict[str, str]:
        request = AWSRequest(method=method, url=url, data=body)
        SigV4Auth(_credentials(api), "sagemaker", region).add_auth(request)
        return {name: str(value) for name, value in request.headers.items() if name != "Host"}

    return sign


def _credentials(api: AwsApi) -> Any:
    from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

    from clouds.aws.errors import told

    try:
        held = api.session.get_credentials()
        if held is None:
            raise NoCredentialsError
        return held.get_frozen_credentials()
    except (BotoCoreError, ClientError) as error:
        raise told(error, "signing a request to the model", "") from error


def first_token(api: AwsApi, region: str, name: str, progress: Progress) -> str:
    """Ask for one short answer, several times if need be. Returns why there was none; empty when a token came."""
    call = Call(
        "sagemaker-runtime",
        "InvokeEndpoint",
        {"EndpointName": name, "ContentType": "application/json", "Body": json.dumps(QUESTION).encode()},
    )
    said = ""
    for attempt in range(TRIES):
        if attempt:
            progress.sleep(PAUSE)
        try:
            answer = api.send(call, scope=Scope(region))
            if tokens(answer["Body"].read()):
                return ""
            said = "it answered without a token"
        except CloudError as error:
            said = f"{error.code or error.kind}: {error.answered}"[:300]
    return said


def tokens(body: bytes) -> int:
    """Generated tokens of a chat answer; 0 for anything that is none."""
    try:
        answer = json.loads(body)
        text = str(answer["choices"][0]["message"].get("content") or "")
        return int((answer.get("usage") or {}).get("completion_tokens") or bool(text))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return 0
