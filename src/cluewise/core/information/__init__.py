"""Information that clusters keep, by annealing."""
