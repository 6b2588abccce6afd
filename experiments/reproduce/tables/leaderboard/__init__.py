"""Leaderboard."""

from ...parts import Section
from .runs import EXPERIMENTS

SECTION = Section("Leaderboard", "", [])
