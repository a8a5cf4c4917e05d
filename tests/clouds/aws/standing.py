"""A deployment that stands already: made once by the real service, then put into the fresh account of each test."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.clouds.aws import rig as rigs
from tests.clouds.aws.rig import Rig
from tests.clouds.aws.simulator import Account, Sent

MAKE: dict[str, Callable[[Rig], object]] = {"sagemaker": Rig.deploy, "ec2": Rig.deploy_machine}


@dataclass(frozen=True)
class Standing:
    """The account with what is due in it, the ledger's file, and what was sent."""

    account: Account
    ledger: bytes
    sent: tuple[Sent, ...]

    def put(self, rig: Rig) -> Rig:
        """The same deployment at the same moment, in the objects that the rig's services already hold."""
        rig.book.close()
        (rig.book.home / "ledger.sqlite3").write_bytes(self.ledger)
        fixed = (self.account.operations, self.account.boot, self.account.console, self.account.model)
        same = {id(self.account): rig.account, id(self.account.clock): rig.account.clock}
        known = {**same, **{id(each): each for each in fixed}}
        vars(rig.account.clock).update(deepcopy(vars(self.account.clock), known))
        vars(rig.account).update(deepcopy(vars(self.account), known))
        rig.seam.sent = list(self.sent)
        return rig


@cache
def standing(service: str) -> Standing:
    """Call it before the rig that it is put into is made: there is one seam for all."""
    with TemporaryDirectory() as home:
        rig = rigs.rig(Path(home))
        MAKE[service](rig)
        rig.book.close()
        # a closure would go on in the account that it was made in
        assert all(isinstance(run, partial) for _, _, run in rig.account.clock.due)
        return Standing(rig.account, (Path(home) / "ledger.sqlite3").read_bytes(), tuple(rig.seam.sent))
