"""Models on nodes of the TPU API: v5e, which nothing else makes, and v6e and v5p where that is asked for."""

from clouds.gcp.endpoints.tpu.service import Tpu

__all__ = ["Tpu"]
