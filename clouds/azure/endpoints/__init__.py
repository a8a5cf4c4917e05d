"""How Azure serves a model: Container Apps on serverless GPUs, and Azure ML managed online endpoints."""
