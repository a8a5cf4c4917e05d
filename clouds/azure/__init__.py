"""Microsoft Azure. Connecting imports no SDK and sends nothing: both happen at the first question."""
