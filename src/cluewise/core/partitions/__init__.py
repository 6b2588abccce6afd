"""Many labelings of the same rows: utilities and consensus."""
