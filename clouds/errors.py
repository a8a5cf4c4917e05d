"""What can go wrong between us and a cloud. One tree, one boundary (`tools/binding.py`) that words it.

    CloudError          what was tried, what the cloud answered (its own code), the one thing to do next
      NotSignedIn         there is no usable credential
      CredentialExpired   there was one, and it has ended
      PermissionMissing   the credential lacks a named permission
      ApiDisabled         the account itself says that this API or provider is not enabled
      NotOffered          the thing does not exist in that place
      QuotaTooSmall       permission to ask is used up or was never given
      NoCapacity          it exists and may be asked for, and none is free now
      Conflict            something of that name is there, or changed since it was read
      NotFound            nothing of that name is there
      InvalidInput        the request is wrong: the field, and what is allowed
      Throttled           asked too often; when to ask again
      Unreachable         no answer came: network, name, port or time
      NotInstalled        a package or program that this needs is not on this machine (yet)
      Unexpected          an answer that we do not understand
    Cancelled           the person or the client asked us to stop (not an error of any cloud)

"Quota", "capacity", "not offered" and "permission" are never merged, even where a cloud uses one code for two.
"""

from __future__ import annotations

import re


class CloudError(Exception):
    """Base of everything a tool may report. `sent` is False when nothing had left this machine."""

    def __init__(
        self,
        tried: str,
        *,
        fix: str,
        answered: str = "",
        code: str = "",
        sent: bool = True,
        retry_after: float | None = None,
    ) -> None:
        """`tried` is a clause ("reading the log of X"); `answered` and `code` are the cloud's own words."""
        self.tried, self.fix, self.answered, self.code = tried, fix, answered, code
        self.sent, self.retry_after = sent, retry_after
        super().__init__(": ".join(part for part in (tried, code, answered) if part))

    @property
    def kind(self) -> str:
        """The machine-readable kind: `no_capacity` for NoCapacity."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()


class NotSignedIn(CloudError):
    """There is no usable credential."""


class CredentialExpired(CloudError):
    """There was a credential, and it has ended."""


class PermissionMissing(CloudError):
    """The credential lacks a permission; `code` or `answered` names it."""


class ApiDisabled(CloudError):
    """The account says that this API or resource provider is not enabled or registered."""


class NotOffered(CloudError):
    """The accelerator, type or service does not exist in that place."""


class QuotaTooSmall(CloudError):
    """Limit, used and asked are in `answered`; `fix` says where to ask for more."""


class NoCapacity(CloudError):
    """Offered and allowed, and none is free now."""


class Conflict(CloudError):
    """Something of that name exists with another spec, or the state changed since it was read."""


class NotFound(CloudError):
    """Nothing of that name is there."""


class InvalidInput(CloudError):
    """The request itself is wrong: raised before anything is sent or written."""

    def __init__(self, field: str, problem: str, *, fix: str, allowed: tuple[str, ...] = ()) -> None:
        """`field` is the argument's name as the caller spelt it; `allowed` the whole set when it is small."""
        self.field, self.allowed = field, allowed
        super().__init__(f"`{field}`: {problem}", fix=fix, sent=False)


class Throttled(CloudError):
    """Asked too often; `retry_after` is in seconds when the cloud said so."""


class Unreachable(CloudError):
    """No answer came: name, network, port or time."""


class NotInstalled(CloudError):
    """A package or program that this call needs is not on this machine, or is still being installed."""


def packages(extra: str) -> str:
    """What to do where a set of packages is missing; modelrig is installed from its folder, not by name."""
    return (
        f"check_setup says how far the packages of [{extra}] are; in modelrig's folder "
        f"`python -m tools.environment.make .venv requirements-{extra}.txt` installs them."
    )


class Unexpected(CloudError):
    """An answer that we do not understand; its own words are in `answered`."""


class DiskFull(Unexpected):
    """There is no room where something has to be written; `code` is what refused it."""


class Cancelled(Exception):
    """The client or the person asked to stop; whoever catches it undoes what is half-made, then re-raises."""

    left: str = ""
    """What stays all the same and what to do about it, as sentences. Empty: nothing half-made was left."""
