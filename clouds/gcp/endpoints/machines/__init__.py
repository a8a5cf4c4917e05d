"""What a machine of Compute Engine and a node of the TPU API have in common: script, start, changes, removal."""
