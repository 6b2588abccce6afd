"""The file format of clues: one long table, one clue per line.

Columns ``a``, ``b``, ``kind``, and optionally ``weight``, ``confidence`` and ``source``:

================================  ====================================================================
``a17,b3,must``                   two rows that belong together (also ``ml``, ``must-link``, ``1``)
``a17,b3,cannot``                 two rows that do not (also ``cl``, ``cannot-link``, ``-1``)
``a17,red,label``                 a row and its class
``a17,g1,together``               a row and its group; ``together:photo`` when there are several columns
``a17,g1,apart``                  the same for groups whose members are all apart
``a17,red,partition``             a row and its class in a partition; ``partition:name`` for several
``a17,2,avoid``                   a row and its cluster in a clustering to avoid; ``avoid:name``
``*,3..20,size``                  bounds for all clusters; ``0,3..,size`` for one; ``size:weight`` for weights
``*,150,rows``                    there are 150 rows, named by their numbers 0 to 149
================================  ====================================================================

Names of rows and classes are text. Class and group names that are all whole numbers, all numbers, or all
True and False come back as such; text that only looks like one is written in quotes (``"1"``).
"""

from cluewise.clues.files._lines import FIELDS, Names, split_kind
from cluewise.clues.files._parse import list_names, parse, parse_clues, read
from cluewise.clues.files._write import tabulate, write

__all__ = ["FIELDS", "Names", "list_names", "parse", "parse_clues", "read", "split_kind", "tabulate", "write"]
