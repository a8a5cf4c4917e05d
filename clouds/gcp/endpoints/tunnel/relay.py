"""Google's TCP relay over a WebSocket, as gcloud speaks it (read in its source, version 528, 2026-11-29; undocumented).

Frames are big-endian: 0x0001 connected (u32 length, session id), 0x0004 data (u32 length up to 16,384, bytes), 0x0007
acknowledged (u64 bytes received so far; sent at least every 32,768). A session that breaks is not taken up again: the
local connection ends and the client sees it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlencode

from clouds.errors import CloudError, PermissionMissing, Unexpected, Unreachable
from clouds.gcp.endpoints.tunnel import websocket
from clouds.gcp.endpoints.tunnel.websocket import Closed, HandshakeRefused, WebSocket

HOST = "wss://tunnel.cloudproxy.app"
PROTOCOL, ORIGIN = "relay.tunnel.cloudproxy.app", "bot:iap-tunneler"
RANGE = "35.235.240.0/20"
"""Where the relay's connections come from (Google's IAP documentation): the one range that a rule of ours lets in."""
MOST_DATA, ACK_EVERY, SECONDS = 16_384, 32_768, 30.0
CONNECTED, DATA, ACKNOWLEDGED = 0x0001, 0x0004, 0x0007


@dataclass(frozen=True)
class Target:
    """One port of one machine. `instance` is its name; of a node of the TPU API, the host name in its attributes."""

    project: str
    zone: str
    instance: str
    port: int
    host: str = HOST

    @property
    def url(self) -> str:
        """Where the relay is asked to connect."""
        asked = {
            "project": self.project, "port": str(self.port), "newWebsocket": "True", "zone": self.zone,
            "instance": self.instance, "interface": "nic0",
        }  # fmt: skip
        return f"{self.host}/v4/connect?{urlencode(asked)}"

    def __str__(self) -> str:
        return f"port {self.port} of {self.instance} in {self.zone}"


@dataclass
class Session:
    """One relayed connection."""

    socket: WebSocket
    received: int = 0
    acknowledged: int = 0
    _left: list[bytes] = field(default_factory=list)

    async def send(self, data: bytes) -> None:
        """Bytes to the machine."""
        for start in range(0, len(data), MOST_DATA):
            part = data[start : start + MOST_DATA]
            await self.socket.send(struct.pack(">HI", DATA, len(part)) + part)

    async def receive(self) -> bytes:
        """The next bytes from the machine. Raises Closed and EOFError at the end."""
        while True:
            message = await self.socket.receive()
            if len(message) < 2:
                continue
            (kind,) = struct.unpack(">H", message[:2])
            if kind == DATA and len(message) >= 6:
                (size,) = struct.unpack(">I", message[2:6])
                data = message[6 : 6 + size]
                self.received += len(data)
                if self.received - self.acknowledged > ACK_EVERY:
                    self.acknowledged = self.received
                    await self.socket.send(struct.pack(">HQ", ACKNOWLEDGED, self.received))
                return data


async def open_session(target: Target, token: Callable[[], str]) -> Session:
    """Connect through the relay and wait until it says that the machine's port took it. Raises CloudError."""
    tried = f"opening the tunnel to {target}"
    headers = {"Origin": ORIGIN, "Authorization": f"Bearer {token()}", "User-Agent": "modelrig"}
    try:
        socket = await websocket.connect(target.url, headers, PROTOCOL, SECONDS)
    except HandshakeRefused as error:
        raise refused(tried, error) from None
    except (OSError, TimeoutError) as error:
        raise Unreachable(
            tried, answered=str(error)[:200] or type(error).__name__, fix="Check this machine's network and proxy."
        ) from None
    try:
        message = await socket.receive()
    except (Closed, EOFError, OSError) as error:
        await socket.close()
        raise closed(tried, error) from None
    except BaseException:
        await socket.close()
        raise
    kind = struct.unpack(">H", message[:2])[0] if len(message) >= 2 else 0
    if kind != CONNECTED:
        await socket.close()
        raise closed(tried, Closed(0, f"the relay began with frame {kind:#06x}"))
    return Session(socket)


def refused(tried: str, error: HandshakeRefused) -> CloudError:
    """The relay did not take the connection at all."""
    if error.status in {401, 403}:
        return PermissionMissing(
            tried, answered=str(error), code=str(error.status),
            fix="Have the role roles/iap.tunnelResourceAccessor on the project, and the IAP API enabled.",
        )  # fmt: skip
    kind = Unreachable if error.status in {0, 502, 503, 504} else Unexpected
    return kind(tried, answered=str(error), code=str(error.status), fix="Repeat this in a minute.")


def closed(tried: str, error: Exception) -> CloudError:
    """The relay took the connection and gave it up again."""
    code, words = (error.code, error.reason) if isinstance(error, Closed) else (0, str(error))
    if code == 4033:
        return PermissionMissing(
            tried, answered=words, code=str(code), fix="Have the role roles/iap.tunnelResourceAccessor on the project."
        )
    return Unreachable(
        tried,
        answered=f"the relay closed with {code} {words}".strip(),
        code=str(code),
        fix=f"The engine may not listen yet (get_endpoint_logs); else a firewall rule must let {RANGE} in there.",
    )
