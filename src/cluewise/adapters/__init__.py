"""Other programs: clues and clusters in the form in which BERTopic, scanpy, Splink, Label Studio and others have them.

None of these programs is imported: what they take and give is frames, dictionaries and estimators.
"""

from cluewise.adapters._anndata import cluster_cells
from cluewise.adapters._atlas import write_atlas
from cluewise.adapters._label_studio import label_studio_answers, label_studio_config, label_studio_tasks
from cluewise.adapters._splink import splink_clues
from cluewise.adapters._with_clues import WithClues

__all__ = [
    "WithClues",
    "cluster_cells",
    "label_studio_answers",
    "label_studio_config",
    "label_studio_tasks",
    "splink_clues",
    "write_atlas",
]
