"""A model on one EC2 machine with a GPU: its own end, its port behind an SSH tunnel, nothing left behind."""

from clouds.aws.endpoints.ec2.service import Ec2

__all__ = ["Ec2"]
