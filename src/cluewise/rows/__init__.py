"""Rows of a table as numbers: what each column is, and how it is encoded.

`Rows` is the estimator. `_cells` reads the columns of any table, `_kinds` recognizes what they are, and one module for
each kind encodes them: `_numbers`, `_categories`, `_dates`, `_text`, `_vectors` (and pictures). `parse`
reads numbers and dates as people write them. `balance` gives every column of the table one unit of variance.
"""

from cluewise.rows._rows import ColumnPlan, Rows

__all__ = ["ColumnPlan", "Rows"]
