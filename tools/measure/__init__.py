"""Measure a model endpoint, list the runs, compare them."""
