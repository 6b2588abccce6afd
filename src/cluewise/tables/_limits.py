"""How much a file may hold; checked before anything is unpacked, so that a small file cannot fill the memory."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from cluewise.tables._columns import TableError

__all__ = ["VARIABLE", "check_size", "limit"]

VARIABLE = "CLUEWISE_FILE_LIMIT"
"""The environment variable that names another limit, such as 8G."""

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_USUAL = 16 * 2**30  # bytes of memory, where the system does not tell


def limit() -> int:
    """Bytes that the content of one file may take: a quarter of the memory, or what `VARIABLE` says.

    A quarter, because a fit holds the table, its matrix, the standardized matrix and a copy for the method.

    Examples
    --------
    >>> from cluewise import tables
    >>> tables.limit() > 0
    True
    """
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return _memory() // 4
    match = re.fullmatch(r"(\d{1,18})\s*([KMGT]?)B?", given, re.IGNORECASE | re.ASCII)
    if match is None:
        raise TableError(f"{VARIABLE} is '{given}'; write a number of bytes, such as 8G.")
    return int(match[1]) * _UNITS[match[2].upper()]


def check_size(size: int, what: str) -> None:
    """Refuse content of more bytes than `limit`; ``what`` names the file."""
    most = limit()
    if size > most:
        shown = f"{most / 2**30:.3g} GB" if most >= 2**30 else f"{most / 2**20:.3g} MB"
        raise TableError(
            f"{what} takes more than {shown} of memory, the limit for one file; "
            f"to read it anyway, set the environment variable {VARIABLE}, for example to 64G."
        )


def _memory() -> int:
    """Bytes of memory that this process may use, as far as the system tells."""
    found = []
    with suppress(AttributeError, ValueError, OSError):  # not on Windows
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(ValueError, OSError):  # the limit of a container; "max" where there is none
        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text("ascii")))
    with suppress(ImportError):
        import resource

        found.append(resource.getrlimit(resource.RLIMIT_AS)[0])
    return min((size for size in found if size > 0), default=_USUAL)  # -1: unlimited
