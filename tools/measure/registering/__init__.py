"""Pre-registration: what will be measured, written down with its hash before it is, and every departure from it."""
