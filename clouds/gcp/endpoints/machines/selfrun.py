"""The self-contained run: a machine that serves, measures itself, writes its results to a bucket and deletes itself.

Arm after arm: the engine is started with the arm's settings, `measure_model` of the packed code measures it over
loopback, and the run's file goes to `<results>/<deployment>/<arm>/` at once, so that a machine that is taken back
leaves what it had. `done.json` is written last. The cloud's own run duration (or the scheduler job) is the backstop.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping

from clouds.errors import InvalidInput
from clouds.gcp.endpoints import labels as tags
from clouds.gcp.endpoints.machines import serving as engines
from clouds.gcp.endpoints.machines.common import Chosen
from clouds.gcp.endpoints.machines.serving import HELD, Serving
from clouds.models import Setting

RESULTS = "modelrig-results"
"""Metadata: where the results go."""
DONE = "done.json"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")
MOST_ARMS = 24


def arms(serving: Serving, text: str) -> tuple[tuple[str, Serving], ...]:
    """Each arm's name and what it serves with. Raises InvalidInput for a list that the engine cannot take."""
    if not text:
        return (("base", serving),)
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise InvalidInput("run_arms", f"is no JSON ({error})", fix='Give [{"name": "base"}, …].') from None
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_ARMS:
        raise InvalidInput("run_arms", f"is no list of 1 to {MOST_ARMS} arms", fix='Give [{"name": "base"}, …].')
    found, names = list[tuple[str, Serving]](), set[str]()
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or not _NAME.fullmatch(str(row.get("name", ""))) or row["name"] in names:
            raise InvalidInput("run_arms", f"arm {number} has no name of its own (a-z, 0-9, -)", fix="Name each arm.")
        names.add(row["name"])
        settings: Mapping[str, Setting] = {k: v for k, v in row.items() if k not in {"name", "model"}}
        if any(not isinstance(value, str | int | float | bool) for value in settings.values()):
            raise InvalidInput("run_arms", f"arm {row['name']} has a setting that is no plain value", fix="Flatten it.")
        model = str(row["model"]) if "model" in row else None
        made = serving.changed(model, settings)
        found.append((str(row["name"]), made.__class__(**{**vars(made), "revision": number})))
    return tuple(found)


def folder(results: str, deployment: str) -> str:
    """Where one deployment writes to."""
    return f"{results.rstrip('/')}/{deployment}"


def script(serving: Serving, chosen: Chosen) -> str:
    """The end of the startup script; empty where the machine only serves."""
    if not chosen.results:
        return ""
    there = folder(chosen.results, tags.PLACEHOLDER)
    out = f"{HELD}/out"
    lines = [
        f"there={shlex.quote(there)}",
        f"gcloud storage cp {shlex.quote(chosen.run_code)} /run/modelrig-code.tar.gz",
        f"echo {shlex.quote(chosen.run_code_sha256 + '  /run/modelrig-code.tar.gz')} | sha256sum -c --quiet \\",
        '  || { say "engine failed: the code is not what was planned"; code_ok=no; }',
        f"mkdir -p {HELD}/code && tar -xzf /run/modelrig-code.tar.gz -C {HELD}/code --strip-components=1",
        "arm() {",
        '  put /etc/modelrig/serve 0755; say "engine started r$(revision)"',
        "  systemctl reset-failed modelrig.service; systemctl restart modelrig.service",
        f'  rm -rf {HELD}/home/runs; mkdir -p {HELD}/home "{out}/$1"',
        # the image brings a newer Python than the machine's own
        f"  if answers; then docker run --rm --net=host -v {HELD}/code:/code -v {HELD}/home:/data \\",
        f"    -e MODELRIG_HOME=/data --entrypoint python3 {shlex.quote(serving.image)} \\",
        "    /code/server.py --clouds local \\",
        f"    call measure_model endpoint=http://127.0.0.1:{engines.PORT} name=$1 {chosen.run_measure} --json \\",
        f'    > "{out}/$1/answer.json" 2> "{out}/$1/measure.log"; say "arm $1 measured with exit $?"; fi',
        f'  cp {HELD}/home/runs/*.json "{out}/$1/" 2> /dev/null',
        f'  journalctl -u modelrig -o cat --no-pager | tail -n 2000 > "{out}/$1/engine.log"',
        f'  gcloud storage rsync -r "{out}/$1" "$there/$1" && say "arm $1 written"',
        "}",
        'if [ "${code_ok:-yes}" = yes ]; then',
    ]
    for arm, serves in arms(serving, chosen.run_arms):
        lines += [f"arm {arm} <<'MODELRIG'", engines.script(serves).rstrip("\n"), "MODELRIG"]
    if chosen.compile_cache:
        lines.append("save_cache")
    lines += [
        "fi",
        f"printf '%s' '{json.dumps({'deployment': tags.PLACEHOLDER})}' > {out}/{DONE}",
        f'gcloud storage cp {out}/{DONE} "$there/{DONE}" && say "results written"',
    ]
    return "\n".join([*lines, ""])


def gone(service: str, name: str, zone: str, project: str, chosen: Chosen) -> str:
    """However the script ends, the machine deletes itself with its own identity, again and again until it is gone.

    Empty where the machine only serves.
    """
    if not chosen.results:
        return ""
    parent = f"projects/{project}/locations/{zone}"
    if service == "gce":
        urls = [f"https://compute.googleapis.com/compute/v1/projects/{project}/zones/{zone}/instances/modelrig-{name}"]
    else:
        urls = [
            f"https://tpu.googleapis.com/v2alpha1/{parent}/queuedResources/modelrig-{name}?force=true",
            f"https://tpu.googleapis.com/v2/{parent}/nodes/modelrig-{name}",
        ]
    words = " ".join(shlex.quote(url) for url in urls)
    return f"""gone() {{
say "deleting itself"
while true; do
  bearer=$(meta service-accounts/default/token | sed -n 's/.*"access_token" *: *"\\([^"]*\\)".*/\\1/p')
  ( umask 077; printf 'Authorization: Bearer %s\\n' "$bearer" > /run/modelrig-header )
  for url in {words}; do curl -fsS -X DELETE -H @/run/modelrig-header "$url" > /dev/null; done
  rm -f /run/modelrig-header
  sleep 60
done
}}
trap gone EXIT
"""
