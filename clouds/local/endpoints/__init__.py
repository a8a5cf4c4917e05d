"""Services of the local cloud."""
