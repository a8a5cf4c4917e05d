"""A model on an Azure ML managed online endpoint: image, endpoint, deployment, traffic, and what ends it."""

from clouds.azure.endpoints.ml.service import Ml

__all__ = ["Ml"]
