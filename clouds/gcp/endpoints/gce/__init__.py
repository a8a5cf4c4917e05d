"""Models on machines of Compute Engine: TPU v6e and v5p, and GPUs."""

from clouds.gcp.endpoints.gce.service import Gce

__all__ = ["Gce"]
