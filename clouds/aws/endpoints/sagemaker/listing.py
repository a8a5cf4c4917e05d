"""All SageMaker endpoints of ours, region by region; a region that cannot be read is said to be."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from clouds.aws import regions
from clouds.aws.api import AwsApi
from clouds.aws.endpoints import tags
from clouds.aws.endpoints.sagemaker import view
from clouds.aws.prices import AwsPrices
from clouds.errors import ApiDisabled, CloudError, NotFound
from clouds.models import Call, Endpoint, EndpointRef, Read, Scope, Unread

LIST = Call("sagemaker", "ListEndpoints")
AT_ONCE = 16


def read(api: AwsApi, prices: AwsPrices, scope: Scope) -> Read[Endpoint]:
    """Everything of ours in a scope. Raises NotSignedIn and CredentialExpired."""
    places, unread = regions.asked(api, [scope])
    with ThreadPoolExecutor(max(1, min(AT_ONCE, len(places)))) as pool:
        found = list(pool.map(lambda region: _region(api, prices, region), places))
    return Read(
        found=tuple(endpoint for one in found for endpoint in one.found),
        unread=(*unread, *(word for one in found for word in one.unread)),
        not_applicable=tuple(word for one in found for word in one.not_applicable),
    )


def _region(api: AwsApi, prices: AwsPrices, region: str) -> Read[Endpoint]:
    try:
        rows = api.send(LIST, scope=Scope(region)).get("Endpoints", [])
    except ApiDisabled as error:
        return Read(not_applicable=(regions.unread(LIST, region, error),))
    except CloudError as error:
        return Read(unread=(regions.unread(LIST, region, error),))
    found: list[Endpoint] = []
    unread: list[Unread] = []
    for row in rows:
        name = str(row["EndpointName"])
        try:
            if not view.tags_of(api, region, str(row["EndpointArn"])).get(tags.DEPLOYMENT):
                continue
            found.append(view.of(api, prices, EndpointRef("aws", "sagemaker", region, name)))
        except NotFound:
            continue
        except CloudError as error:
            unread.append(regions.unread(Call("sagemaker", "DescribeEndpoint"), f"{region}/{name}", error))
    return Read(found=tuple(found), unread=tuple(unread))
