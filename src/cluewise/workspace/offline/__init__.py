"""Questions on a page for people without Python, and their answers as a file.

The page holds everything that it needs and sends nothing; the file comes back by mail.
"""

from cluewise.workspace.offline.answers import Returned, read_answers, take_in
from cluewise.workspace.offline.page import write_page

__all__ = ["Returned", "read_answers", "take_in", "write_page"]
