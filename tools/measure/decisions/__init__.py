"""Decisions: a typed question read as a probability over its allowed labels, from one generated position."""
