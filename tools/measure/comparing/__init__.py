"""Comparisons of runs from their files alone: what differs, one verdict a figure, answers in pairs, drift."""
