"""Speculative decoding: what a drafter gains, what each guess costs, and from how many requests on it loses."""
