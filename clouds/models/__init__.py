"""Frozen records that cross the line between tools and clouds. Units are in the names: seconds, bytes, usd."""

from clouds.models.accelerators import ACCELERATORS, accelerator
from clouds.models.answers import Capacity, Identity, LogPage, Quota, Wire
from clouds.models.basic import Call, EndpointRef, Read, Record, Reversal, Scope, Setting, State, Unread
from clouds.models.endpoint import Endpoint, EngineFacts, Hardware, Phase, Price
from clouds.models.plan import Change, DeletedPart, Deletion, DeploymentPlan, DeploymentSpec, Hourly, PlanStep

__all__ = [
    "ACCELERATORS",
    "Call",
    "Capacity",
    "Change",
    "DeletedPart",
    "Deletion",
    "DeploymentPlan",
    "DeploymentSpec",
    "Endpoint",
    "EndpointRef",
    "EngineFacts",
    "Hardware",
    "Hourly",
    "Identity",
    "LogPage",
    "Phase",
    "PlanStep",
    "Price",
    "Quota",
    "Read",
    "Record",
    "Reversal",
    "Scope",
    "Setting",
    "State",
    "Unread",
    "Wire",
    "accelerator",
]
