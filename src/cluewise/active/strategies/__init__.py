"""The strategies, one to a file."""
