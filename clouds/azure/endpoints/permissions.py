"""What making and ending endpoints sends besides reads, for least-privilege roles; a test holds it to what is sent."""

from __future__ import annotations

from clouds.azure.endpoints import ending, parts
from clouds.models import Call

_TAGS = Call("Microsoft.Resources/tags", "patch")
_END = tuple(Call(kind, verb) for kind in (ending.WORKFLOW, ending.ASSIGNMENT) for verb in ("put", "delete"))
CONTAINER_APPS = (
    *(Call(kind, verb) for kind in (parts.GROUP, parts.ENVIRONMENT, parts.APP) for verb in ("put", "delete")),
    Call(parts.ENVIRONMENT, "patch"),
    Call(parts.APP, "patch"),
    Call(parts.APP, "listSecrets"),
    *_END,
    _TAGS,
)
ML = (
    *(Call(kind, verb) for kind in (parts.ENDPOINT, parts.SERVED) for verb in ("put", "delete")),
    Call(parts.IMAGE, "put"),
    Call(parts.ENDPOINT, "listKeys"),
    *_END,
    _TAGS,
)
