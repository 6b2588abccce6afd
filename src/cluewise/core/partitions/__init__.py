"""Many labelings of the same rows: utilities, consensus, and weights on the simplex."""
