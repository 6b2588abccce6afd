"""TVClust: learns how far to trust the clues."""
