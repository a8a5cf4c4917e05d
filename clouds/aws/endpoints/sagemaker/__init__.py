"""A model on a SageMaker real-time endpoint: model, endpoint config, endpoint, and the schedules that end them."""

from clouds.aws.endpoints.sagemaker.service import SageMaker

__all__ = ["SageMaker"]
