"""The doctor for clues: `check`."""
