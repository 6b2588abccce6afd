"""Exact and nearly exact assignment: hard links, prices of soft ones, sizes, and what is left to search."""
