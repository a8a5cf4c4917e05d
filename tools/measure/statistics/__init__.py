"""Statistics of comparisons: one file per method, pure functions over numbers, every random draw from a given seed."""
