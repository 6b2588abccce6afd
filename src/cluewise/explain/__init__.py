"""What the clusters of a fit are, and how sure: descriptions in the words of the table, and stability."""

from cluewise.explain._changes import Changes
from cluewise.explain._describe import describe
from cluewise.explain._description import Description, Profile
from cluewise.explain._difference import Difference
from cluewise.explain._rule import Condition, Rule
from cluewise.explain._stability import RECOVERED, Stability, stability

__all__ = [
    "RECOVERED",
    "Changes",
    "Condition",
    "Description",
    "Difference",
    "Profile",
    "Rule",
    "Stability",
    "describe",
    "stability",
]
