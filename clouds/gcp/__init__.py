"""Google Cloud. Connecting imports no SDK and sends nothing: both happen at the first question."""

from __future__ import annotations
