"""A simulated Azure subscription with a clock: what ARM, a container's log, a model and a registry answer, below httpx.

Modelled, and from where:

- long-running operations: 201/202 with Azure-AsyncOperation or Location, and a failed one that is HTTP 200 with status
  Failed (azure-core 1.41.0, polling/base_polling, read 2026-11);
- PUT that overwrites without a word, DELETE that says 204 for what is not there, tags that are merged
  (Microsoft.Resources/tags, ARM documentation);
- Container Apps: environment, app, revision, replica and container as in the published types of 2026-01-01; an app that
  says Succeeded whatever its image is; probes and their limits; replicas that bill, scale to zero after the cool-down
  and wake with a request; secrets that cannot be read back but with listSecrets; logs that go with the replica;
- serverless GPU quota shown on an environment only, names with `Consumption` (public reports, 2026-08);
- Azure ML: endpoint, deployment, traffic, keys, logs; quota of a family refused at once, capacity after a while; a
  deployment that failed after it got a machine and goes on billing; no deletion while it has traffic or is being made;
- Logic Apps: a workflow gets an identity, fires at its start time and then in its interval, and may delete only what a
  role assignment covers; a new identity is unknown to role assignments for some seconds (PrincipalNotFound);
- the list of a resource group's contents lags behind (ARM's cache).

Not known from any document, and so a choice of ours: how long each thing takes, and the codes with which an operation
under way refuses another one.
"""

from __future__ import annotations

from tests.clouds.azure.simulator.faults import Fault, Killed
from tests.clouds.azure.simulator.seam import Seam
from tests.clouds.azure.simulator.subscription import ID, TENANT, Bill, Boot, Subscription

__all__ = ["ID", "TENANT", "Bill", "Boot", "Fault", "Killed", "Seam", "Subscription"]
