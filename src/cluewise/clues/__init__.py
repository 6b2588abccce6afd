"""What people know about their data before it is clustered."""

from cluewise.clues._closure import Cliques, Conflict, Graph
from cluewise.clues._clues import Clues
from cluewise.clues._distance import check_epsilon, repair_epsilon
from cluewise.clues._groups import Groups
from cluewise.clues._pairs import Pairs
from cluewise.clues.words import KINDS

__all__ = ["KINDS", "Cliques", "Clues", "Conflict", "Graph", "Groups", "Pairs", "check_epsilon", "repair_epsilon"]
