"""Choice by held-out clues: `ClueSearchCV` and `suggest`."""
