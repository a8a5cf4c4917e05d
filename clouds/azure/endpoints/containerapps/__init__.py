"""A model on a Container App with a serverless GPU: group, environment, app; it scales to zero by itself."""

from clouds.azure.endpoints.containerapps.service import ContainerApps

__all__ = ["ContainerApps"]
