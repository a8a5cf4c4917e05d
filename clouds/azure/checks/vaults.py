"""Secrets that nobody renews, keys that are switched off and billed; what is left over in recovery vaults."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from clouds.azure.checks import words
from clouds.azure.checks.disks import MACHINES
from clouds.azure.checks.reads import check, children, listing
from clouds.models.waste import Detail, Kind, Meter, Row, Seen, Waste

_VAULT, _RECOVERY = "Microsoft.KeyVault/vaults", "Microsoft.RecoveryServices/vaults"
VAULTS, RECOVERIES = listing(_VAULT), listing(_RECOVERY)
SECRETS, KEYS = children(VAULTS, f"{_VAULT}/secrets"), children(VAULTS, f"{_VAULT}/keys")
ITEMS = Detail(
    RECOVERIES,
    f"{_RECOVERY}/backupProtectedItems",
    "list_in",
    lambda rows, _at: {"parent": rows[0]["id"]},
    rows="value",
)


def _attributes(row: Row) -> Any:
    return words.props(row).get("attributes") or {}


def _changed(row: Row) -> Any:
    about = _attributes(row)
    return about.get("updated") or about.get("created")


def _of(name: str, read: Detail, created: Any) -> Kind:
    return Kind(
        name=name, of=read, id=words.ident, label=words.child_label, created=created, tags=words.tags,
        managed=lambda row: "Key Vault, for a certificate" if words.props(row).get("managed") else "",
        place=words.place,
    )  # fmt: skip


SECRET, KEY = (
    _of("Key Vault secret", SECRETS, _changed),
    _of("Key Vault key", KEYS, lambda row: _attributes(row).get("created")),
)
STALE_DAYS = 90


def _stale(row: Row, seen: Seen) -> Waste | None:
    at = words.moment(_changed(row))
    if at is None or seen.now - at < timedelta(days=STALE_DAYS) or _attributes(row).get("enabled") is False:
        return None
    if str(words.props(row).get("contentType", "")) == "application/x-pkcs12":
        return None  # the private half of a certificate, which has dates of its own
    return Waste(
        reason=f"no new version in {(seen.now - at).days} days",
        free=True,
        evidence={"changed": at.isoformat(timespec="seconds"), "vault": words.last(words.parent(row["id"]))},
    )


STALE_SECRET = check(
    id="stale-key-vault-secret",
    title="Secret that nobody renews",
    kind=SECRET,
    judge=_stale,
    why="It costs nothing; a secret that was not renewed for long is known to more people than should know it.",
    spares=(f"a version within {STALE_DAYS} days", "switched off", "the private half of a certificate"),
    unchecked=("whether it is read: only the vault's own log says so",),
    meter="none: secrets bill by the operation",
    min_age=timedelta(days=STALE_DAYS),
    remove="whether something still reads a secret is not known here: renew it, or switch it off and see who misses it",
    reversal="recoverable",
    recovery="A deleted secret can be recovered for 7 to 90 days, as its vault says.",
    order=95,
)


def _disabled(row: Row, _seen: Seen) -> Waste | None:
    if _attributes(row).get("enabled") is not False:
        return None
    sort, size = str(words.props(row).get("kty", "")), int(words.props(row).get("keySize") or 2048)
    if not sort.endswith("-HSM"):
        meters: tuple[Meter, ...] = ()
    elif sort == "RSA-HSM" and size == 2048:
        meters = (Meter("keyvault/key-hsm", "key-month", 1.0, "global"),)
    else:
        meters = (Meter("keyvault/key-hsm-advanced/first-tier", "key-month", 1.0, "global"),)
    return Waste(
        reason=f"switched off ({sort or 'software'}), and billed all the same" if meters else f"switched off ({sort})",
        meters=meters,
        free=not meters,
        bound="at most",
        evidence={"sort": sort, "bits": size},
    )


DISABLED_KEY = check(
    id="disabled-key-vault-key",
    title="Key that is switched off and billed",
    kind=KEY,
    judge=_disabled,
    why="A key in a hardware module bills by the month in each of its versions that were used in 30 days.",
    spares=("enabled", "made for a certificate"),
    unchecked=("data that is encrypted under it: without it that cannot be read again", "its older versions"),
    meter="key-months of HSM keys; software keys cost nothing",
    min_age=timedelta(days=30),
    remove="what it has encrypted is lost without it, and keys are deleted in the vault's data plane, not here",
    reversal="recoverable",
    recovery="A deleted key is kept for 7 to 90 days as its vault says, and bills until it is purged.",
    order=94,
)
ITEM = Kind(
    name="backup item",
    of=ITEMS,
    id=words.ident,
    label=lambda row: f"{words.props(row).get('friendlyName') or words.last(row['id'])} ({words.group(row['id'])})",
    created=lambda row: words.props(row).get("lastRecoveryPoint"),
    place=words.place,
)


def _left(row: Row, seen: Seen) -> Waste | None:
    about = words.props(row)
    source = str(about.get("sourceResourceId") or about.get("virtualMachineId") or "")
    if about.get("protectionState") != "ProtectionStopped" or "/virtualmachines/" not in source.lower():
        return None
    if not source.lower().startswith(f"/subscriptions/{(seen.at.account or '').lower()}/"):
        return None
    if source.lower() in seen.index(MACHINES, words.key):
        return None
    return Waste(
        reason=f"backups are kept of {words.last(source)}, which is gone, and none is made any more",
        meters=(Meter("backup/protected-instance", "month"),),
        bound="at least",
        evidence={
            "machine": source, "last": about.get("lastRecoveryPoint", ""),
            "soft-deleted": bool(about.get("isScheduledForDeferredDelete")),
        },
    )  # fmt: skip


LEFT_BACKUP = check(
    id="recovery-vault-leftovers",
    title="Backups of a machine that is gone",
    kind=ITEM,
    reads=(MACHINES,),
    judge=_left,
    why="Backups that are kept bill an instance fee and what they store, until somebody deletes them.",
    spares=("still being backed up", "its machine is there, or in another subscription", "backed up within 30 days"),
    unchecked=("laws and rules by which they are kept",),
    meter="protected instances; their storage comes on top",
    min_age=timedelta(days=30),
    remove="they are the last copies of a machine that is gone: whether they may go is not known here",
    reversal="recoverable",
    recovery="Deleted backups are kept for 14 days by soft delete.",
    order=82,
)  # fmt: skip
CHECKS = (LEFT_BACKUP, DISABLED_KEY, STALE_SECRET)
