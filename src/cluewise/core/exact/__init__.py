"""Exact assignment under hard links."""
