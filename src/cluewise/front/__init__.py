"""The front door: the clusterer that carries the name of the library."""

from cluewise.front._choice import Choice
from cluewise.front._cluewise import Cluewise
from cluewise.front._ids import keep_ids, list_ids, name_clusters

__all__ = ["Choice", "Cluewise", "keep_ids", "list_ids", "name_clusters"]
