"""Graphs of near rows."""
