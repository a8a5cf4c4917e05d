"""What the machine does when it starts. No secret is in the text: it stands in metadata and can be read back.

Each phase goes to the serial console, which Compute Engine shows without a login, and to a guest attribute, which is
all that the TPU API shows. Another model or other flags come through the machine's own metadata: a watcher waits for a
change of `modelrig-serve` and replaces the container. Nothing has to be let in for that.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from clouds.gcp.endpoints.machines.serving import HELD, PORT

ANSWERS, FAILED, STARTED = "engine answers", "engine failed", "engine started"
MOST_BYTES = 250_000
"""Of one metadata value: Compute Engine takes 256 KiB (its documentation, read 2026-11-29)."""


@dataclass(frozen=True)
class Machine:
    """What the script is made from. `cache` and `prepare` are places in buckets, `secret` a Secret Manager version."""

    image: str
    tpu: bool
    secret: str = ""
    cache: str = ""
    prepare: str = ""
    prepare_sha256: str = ""
    attributes: bool = False
    after: str = ""
    """The rest of the script in place of serving: the self-contained run."""
    gone: str = ""
    """How such a machine deletes itself, whatever happens to its script."""


def render(machine: Machine) -> str:
    """The whole script, for `startup-script`."""
    image = shlex.quote(machine.image)
    told = _TOLD if machine.attributes else "cat > /dev/null"
    return f"""#!/bin/bash
# modelrig: one model server. No secret is in this text.
set -u
mkdir -p {HELD}/cache/vllm {HELD}/hf {HELD}/models {HELD}/out /etc/modelrig
at=http://metadata.google.internal/computeMetadata/v1/instance
meta() {{ curl -fsS -H 'Metadata-Flavor: Google' "$at/$1"; }}
told() {{ {told}; }}
say() {{
  echo "modelrig phase: $1 at $(date -u +%FT%TZ)" | tee -a {HELD}/phases > /dev/console
  tail -n 40 {HELD}/phases | told phase
}}
put() {{ install -D -m "$2" /dev/stdin "$1"; }}
revision() {{ sed -n 's/^# revision //p' /etc/modelrig/serve; }}
answers() {{
  for _ in $(seq 1 900); do
    curl -fsS -o /dev/null http://127.0.0.1:{PORT}/health && {{ say "{ANSWERS} r$(revision)"; return 0; }}
    systemctl is-failed -q modelrig.service && break
    sleep 5
  done
  say "{FAILED}: no answer from r$(revision)"; return 1
}}
{machine.gone}say "script began"
for _ in 1 2 3 4 5 6; do
  command -v docker > /dev/null && break
  apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install docker.io || sleep 15
done
command -v docker > /dev/null || {{ say "{FAILED}: docker could not be installed"; exit 1; }}
{"" if machine.tpu else _TOOLKIT}meta attributes/modelrig-serve | put /etc/modelrig/serve 0755
{_token(machine.secret)}put /etc/systemd/system/modelrig.service 0644 <<'MODELRIG'
[Unit]
After=docker.service
Requires=docker.service
StartLimitIntervalSec=21600
StartLimitBurst=2
[Service]
ExecStartPre=-/usr/bin/docker rm -f modelrig
ExecStart=/etc/modelrig/serve
ExecStop=/usr/bin/docker stop modelrig
Restart=on-failure
RestartSec=10
StandardOutput=journal+console
StandardError=journal+console
[Install]
WantedBy=multi-user.target
MODELRIG
{_cache(machine.cache)}say "pulling image"
for _ in 1 2 3; do docker pull -q {image} && break; sleep 10; done
docker image inspect {image} > /dev/null || {{ say "{FAILED}: image"; exit 1; }}
say "image pulled"
{_prepare(machine)}systemctl daemon-reload
{_PUSH if machine.attributes else ""}{_start(machine)}"""


def _start(machine: Machine) -> str:
    if machine.after:
        return machine.after
    save = "save_cache\n" if machine.cache else ""
    return f"""systemctl enable --now modelrig.service && say "{STARTED} r$(revision)"
answers
{save}etag=0
while true; do
  curl -fsS -D /run/modelrig-head -o /run/modelrig-serve -H 'Metadata-Flavor: Google' \\
    "$at/attributes/modelrig-serve?wait_for_change=true&timeout_sec=300&last_etag=$etag" || {{ sleep 5; continue; }}
  etag=$(sed -n 's/^[Ee][Tt]ag: *//p' /run/modelrig-head | tr -d '\\r')
  cmp -s /run/modelrig-serve /etc/modelrig/serve && continue
  put /etc/modelrig/serve 0755 < /run/modelrig-serve
  systemctl reset-failed modelrig.service
  systemctl restart modelrig.service && say "{STARTED} r$(revision)"
  answers
  {save}done
"""


def _token(secret: str) -> str:
    """Read the secret with the machine's own identity into memory; it is never on a disk, in a log or in metadata."""
    if not secret:
        return ""
    url = f"https://secretmanager.googleapis.com/v1/{secret}:access"
    return f"""install -d -m 0700 /run/modelrig
( umask 077; set +x
  bearer=$(meta service-accounts/default/token | sed -n 's/.*"access_token" *: *"\\([^"]*\\)".*/\\1/p')
  printf 'Authorization: Bearer %s\\n' "$bearer" > /run/modelrig/header
  curl -fsS -H @/run/modelrig/header {shlex.quote(url)} \\
    | sed -n 's/.*"data" *: *"\\([^"]*\\)".*/\\1/p' | base64 -d | sed 's/^/HF_TOKEN=/' > /run/modelrig/env
  rm -f /run/modelrig/header )
[ -s /run/modelrig/env ] || {{ say "{FAILED}: the secret could not be read"; exit 1; }}
"""


def _cache(place: str) -> str:
    """The compile cache comes from the bucket and goes back to it once the engine answers."""
    if not place:
        return ""
    there, here = shlex.quote(place.rstrip("/")), f"{HELD}/cache/vllm"
    return f"""save_cache() {{ gcloud storage rsync -r {here} {there} && say "compile cache saved"; }}
gcloud storage rsync -r {there} {here} && say "compile cache read" || say "no compile cache yet"
"""


def _prepare(machine: Machine) -> str:
    """A script of the user's own, checked against its sha256; it may leave the image to use in /etc/modelrig/image."""
    if not machine.prepare:
        return ""
    return f"""gcloud storage cp {shlex.quote(machine.prepare)} /run/modelrig-prepare
echo {shlex.quote(machine.prepare_sha256 + "  /run/modelrig-prepare")} | sha256sum -c --quiet \\
  || {{ say "{FAILED}: the preparing script is not the one that was planned"; exit 1; }}
say "preparing"
MODELRIG_IMAGE={shlex.quote(machine.image)} bash /run/modelrig-prepare > /dev/console 2>&1 \\
  || {{ say "{FAILED}: the preparing script"; exit 1; }}
say "prepared"
"""


_TOOLKIT = """if ! command -v nvidia-ctk > /dev/null; then
  keys=/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg
  from=https://nvidia.github.io/libnvidia-container
  curl -fsSL $from/gpgkey | gpg --batch --yes --dearmor -o $keys
  echo "deb [signed-by=$keys] $from/stable/deb/amd64 /" > /etc/apt/sources.list.d/nvidia-container-toolkit.list
  for _ in 1 2 3; do apt-get -q update && apt-get -qy install nvidia-container-toolkit && break; sleep 15; done
  nvidia-ctk runtime configure --runtime=docker && systemctl restart docker
fi
nvidia-smi > /dev/console 2>&1 || say "nvidia-smi does not answer yet"
"""
_TOLD = """curl -fsS -X PUT -H 'Metadata-Flavor: Google' --data-binary @- "$at/guest-attributes/modelrig/$1" || :"""
_PUSH = """( while sleep 20; do
  journalctl -u modelrig -o cat --no-pager -n 80 | tail -c 6000 | told log
  journalctl -u modelrig -o cat --no-pager | grep -E 'Memory statistics|KV cache size|Init |init engine|API server' \\
    | tail -n 20 | tail -c 6000 | told engine
done ) > /dev/null 2>&1 &
"""
"""The TPU API shows no console: the newest lines go to guest attributes, which take some kilobytes each."""
