"""Open loop: requests at a given rate, whatever has come back, timed from when they were due."""
