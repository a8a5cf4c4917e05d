"""The one short question whose answer makes an endpoint ready."""

from __future__ import annotations

from clouds.azure.endpoints.web import Page, Web
from clouds.base import Progress
from clouds.errors import CloudError
from clouds.models import Wire

QUESTION = {
    "messages": [{"role": "user", "content": "Reply with the single word: ok"}],
    "max_tokens": 8,
    "temperature": 0,
}
TRIES, PAUSE = 5, 10.0


def first_token(web: Web, wire: Wire, progress: Progress, *, seconds: float) -> str:
    """Ask for one short answer, several times if need be. Returns why there was none; empty when a token came."""
    said = ""
    for attempt in range(TRIES):
        if attempt:
            progress.sleep(PAUSE)
        try:
            page = web.ask(
                "chat",
                f"{wire.url}{wire.plain_path or wire.path}",
                headers={**wire.headers, "Content-Type": "application/json"},
                body={**QUESTION, "model": wire.model, **wire.extra_body},
                seconds=seconds,
            )
        except CloudError as error:
            said = str(error)[:300]
            continue
        if page.status == 200 and tokens(page):
            return ""
        said = f"HTTP {page.status}" + (" without a token" if page.status == 200 else _inside(page))
    return said


def _inside(page: Page) -> str:
    """What the container itself answered, where Azure ML's gateway passes it on (424)."""
    status = page.headers.get("ms-azureml-model-error-statuscode", "")[:8]
    reason = page.headers.get("ms-azureml-model-error-reason", "")[:120]
    return f" (the container answered {status} {reason})".rstrip() if status else ""


def tokens(page: Page) -> int:
    """Generated tokens of a chat answer; 0 for anything that is none."""
    try:
        answer = page.json
        text = str(answer["choices"][0]["message"].get("content") or "")
        return int((answer.get("usage") or {}).get("completion_tokens") or bool(text))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return 0
