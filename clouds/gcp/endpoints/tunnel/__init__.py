"""A tunnel to one port of a machine through Google's Identity-Aware Proxy: opened by us, closed with its wire."""

from clouds.gcp.endpoints.tunnel.listener import Tunnel, open_tunnel
from clouds.gcp.endpoints.tunnel.relay import Target

__all__ = ["Target", "Tunnel", "open_tunnel"]
