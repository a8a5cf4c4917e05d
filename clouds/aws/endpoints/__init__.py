"""How AWS serves a model: SageMaker endpoints and single EC2 machines."""
