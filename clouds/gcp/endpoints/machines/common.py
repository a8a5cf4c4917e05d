"""Settings that both machine services take, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clouds.errors import InvalidInput
from clouds.gcp.endpoints import settings as options
from clouds.models import Setting

FLEX_LEAST, FLEX_MOST, FLEX_WAIT = 1 / 6, 168.0, 2.0
"""Hours: flex-start runs 10 minutes to 7 days and waits 2 h at most (Google's flex-start page and the article of
2026-10-25)."""
COMMON: Mapping[str, str] = {
    "wait_hours": "flex-start: how long to wait for capacity, 0.1 to 2; default 2",
    "zones": "zones to try, in order, separated by commas; default: those that have the hardware",
    "network": "VPC network; default: default",
    "service_account": "the machine's service account; default: Compute Engine's default one",
    "hf_token_from": "Secret Manager version with a Hugging Face token: projects/P/secrets/N/versions/latest",
    "compile_cache": "gs://bucket/folder that keeps XLA's compile cache, in the machine's region",
    "prepare": "gs://bucket/script.sh to run before the engine; it may write another image to /etc/modelrig/image",
    "prepare_sha256": "its sha256; needed with `prepare`",
    "results": "gs://bucket/folder: the machine measures itself, writes its results there and deletes itself",
    "run_code": "gs://bucket/code.tar.gz with modelrig, for `results`",
    "run_code_sha256": "its sha256; needed with `run_code`",
    "run_arms": 'for `results`: JSON list of arms, each with "name" and engine settings; default: one arm, "base"',
    "run_measure": "for `results`: arguments of measure_model, e.g. profile=quick; default: profile=standard",
}
COMMON_CHECKS: Mapping[str, options.Check] = {
    "wait_hours": options.number(0.1, FLEX_WAIT, "Google lets a flex-start request wait for 2 hours at most."),
    "zones": options.ZONE,
    "network": options.NAME,
    "service_account": options.EMAIL,
    "hf_token_from": options.SECRET,
    "compile_cache": options.BUCKET,
    "prepare": options.BUCKET,
    "prepare_sha256": options.SHA256,
    "results": options.BUCKET,
    "run_code": options.BUCKET,
    "run_code_sha256": options.SHA256,
    "run_arms": options.like(r"\[.{2,4000}\]", "a JSON list of arms"),
    "run_measure": options.like(r"[a-z_]+=[\w.,:-]+( [a-z_]+=[\w.,:-]+){0,12}", "words like profile=quick levels=1,4"),
}


@dataclass(frozen=True)
class Chosen:
    """The settings with their defaults filled in. `extra` are those of one service alone."""

    market: str = "on-demand"
    wait_hours: float = FLEX_WAIT
    zones: str = ""
    network: str = "default"
    service_account: str = ""
    hf_token_from: str = ""
    compile_cache: str = ""
    prepare: str = ""
    prepare_sha256: str = ""
    results: str = ""
    run_code: str = ""
    run_code_sha256: str = ""
    run_arms: str = ""
    run_measure: str = "profile=standard"
    image: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def waits(self) -> float:
        """Hours that a request may wait for capacity before it runs."""
        return self.wait_hours if self.market == "flex-start" else 0.0


_OWN = frozenset(Chosen.__dataclass_fields__) - {"extra"}


def choose(
    settings: Mapping[str, Setting],
    known: Mapping[str, str],
    checks: Mapping[str, options.Check],
    service: str,
    ttl_hours: float,
) -> Chosen:
    """Raises InvalidInput for unknown settings, wrong values, and times that flex-start does not take."""
    values, _ = options.choose(settings, known, checks, service)
    own = {name: value for name, value in values.items() if name in _OWN}
    found = Chosen(**own, extra={name: value for name, value in values.items() if name not in _OWN})
    if found.market == "flex-start":
        if not FLEX_LEAST <= ttl_hours <= FLEX_MOST:
            raise InvalidInput(
                "ttl_hours", f"flex-start runs 10 minutes to 7 days, not {ttl_hours:g} h",
                fix="Give hours from 0.17 to 168, or another market.",
            )  # fmt: skip
    elif "wait_hours" in settings:
        raise InvalidInput("wait_hours", f"{found.market} does not wait", fix='Set market to "flex-start" or drop it.')
    for name in ("prepare", "run_code"):
        if bool(getattr(found, name)) != bool(getattr(found, f"{name}_sha256")):
            raise InvalidInput(name, f"and {name}_sha256 go together", fix="Give both: the record holds the sha256.")
    if (found.run_code or found.run_arms) and not found.results:
        raise InvalidInput("results", "is where a machine that measures itself writes to", fix="Give results=gs://….")
    if found.results and not found.run_code:
        raise InvalidInput("run_code", "is what a machine measures itself with", fix="Give run_code and its sha256.")
    return found
