"""What the machine does when it starts: first its own end, then the engine. No secret is in it; it can be read back."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime

from clouds.aws.endpoints.ec2 import serving as engines
from clouds.aws.endpoints.ec2.serving import PORT, Serving

MOST_BYTES = 16_384
"""EC2's limit on user data before it is encoded (EC2 documentation, 2026-11-29)."""
ANSWERS, FAILED = "engine answers", "engine failed"


def render(serving: Serving, end: datetime, region: str) -> str:
    """The whole script. Each phase is written to the console, which EC2 shows without a login."""
    token = _token(serving.secret, region) if serving.secret else ""
    image = shlex.quote(serving.image)
    return f"""#!/bin/bash
# modelrig: one model server that ends by itself. No secret is in this text.
set -u
say() {{ echo "modelrig phase: $1 at $(date -u +%FT%TZ)" > /dev/console; }}
put() {{ install -D -m "$2" /dev/stdin "$1"; }}
{timer(end)}
systemctl daemon-reload
systemctl enable --now modelrig-end.timer || shutdown -h now
end=$(sed -n 's/^OnCalendar=//p' /etc/systemd/system/modelrig-end.timer)
[ "$(date +%s)" -lt "$(date -d "$end" +%s)" ] || shutdown -h now
say "timer set"
put /etc/modelrig/serving.json 0644 <<'MODELRIG'
{serving.text()}
MODELRIG
put /etc/modelrig/serve 0755 <<'MODELRIG'
{engines.script(serving)}MODELRIG
put /etc/systemd/system/modelrig.service 0644 <<'MODELRIG'
[Unit]
After=docker.service
Requires=docker.service
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
mkdir -p {engines.CACHE}
{token}say "pulling image"
for _ in 1 2 3; do docker pull -q {image} && break; sleep 10; done
docker image inspect {image} > /dev/null || {{ say "{FAILED}: image"; exit 1; }}
say "image pulled"
systemctl daemon-reload
systemctl enable --now modelrig.service && say "engine started"
for _ in $(seq 1 720); do
  curl -fsS -o /dev/null http://127.0.0.1:{PORT}/health && {{ say "{ANSWERS}"; exit 0; }}
  sleep 5
done
say "{FAILED}: no answer in an hour"
"""


def timer(end: datetime) -> str:
    """The unit files of the machine's end; a clock time, so that a restart does not move it."""
    return f"""put /etc/systemd/system/modelrig-end.service 0644 <<'MODELRIG'
[Service]
Type=oneshot
ExecStart=/sbin/shutdown -h now
MODELRIG
put /etc/systemd/system/modelrig-end.timer 0644 <<'MODELRIG'
[Timer]
OnCalendar={end.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC
Persistent=true
[Install]
WantedBy=timers.target
MODELRIG"""


def _token(secret: str, region: str) -> str:
    """Read the secret with the machine's own role into memory; it is never on its disk nor in its console."""
    return f"""install -d -m 0700 /run/modelrig
( umask 077; printf 'HF_TOKEN=%s\\n' "$(aws secretsmanager get-secret-value --region {shlex.quote(region)} \\
  --secret-id {shlex.quote(secret)} --query SecretString --output text)" > {engines.TOKEN_FILE} )
"""


def new_end(end: datetime) -> str:
    """The commands that move the end of a machine that runs."""
    return f"""set -eu
put() {{ install -D -m "$2" /dev/stdin "$1"; }}
{timer(end)}
systemctl daemon-reload
systemctl restart modelrig-end.timer
"""


def new_serving(serving: Serving) -> str:
    """The commands that put another engine call in place and start it."""
    return f"""set -eu
put() {{ install -D -m "$2" /dev/stdin "$1"; }}
put /etc/modelrig/serving.json 0644 <<'MODELRIG'
{serving.text()}
MODELRIG
put /etc/modelrig/serve 0755 <<'MODELRIG'
{engines.script(serving)}MODELRIG
systemctl restart modelrig.service
for _ in $(seq 1 720); do
  curl -fsS -o /dev/null http://127.0.0.1:{PORT}/health && exit 0
  systemctl is-failed -q modelrig.service && exit 3
  sleep 5
done
exit 4
"""
