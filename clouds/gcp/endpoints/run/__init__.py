"""Models on Cloud Run with an L4: scaled between zero and one instance."""

from clouds.gcp.endpoints.run.service import CloudRun

__all__ = ["CloudRun"]
