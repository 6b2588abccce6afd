"""Members of ZIP archives, read no further than they declare; and what a workbook holds, before it is made."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import IO, Any

from cluewise.tables._columns import TableError
from cluewise.tables._limits import check_size

__all__ = ["check_book", "check_members", "open_member", "read_member"]

_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # zipfile unpacks a piece of any other whole
_PIECE = 2**14
_TAG = 2**18  # bytes of a tag with its attributes, which are all made at once
_ROWS = 2**20  # of a sheet
_PLACE = 8  # bytes of a cell that is empty
_ELEMENT, _DONE = 1024, 64  # bytes that openpyxl needs for an element of XML, and for a row when it has read it
_UNITS = ("row", "si")  # what it reads one at a time: rows of a sheet, and shared strings


def check_members(archive: zipfile.ZipFile, name: str) -> None:
    """Refuse an archive with members that cannot be read in pieces."""
    for info in archive.infolist():
        if info.flag_bits & 1:
            raise TableError(f"{name} is encrypted; save it without a password.")
        if info.compress_type not in _BOUNDED:
            raise TableError(f"{name} is packed by a method other than deflate; pack it again as an ordinary ZIP file.")


@contextmanager
def open_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    """A member, which gives one byte more than it declares if it holds more.

    What is read without a number of bytes is unpacked whole, whatever the member declares.
    """
    more = copy(info)
    more.file_size += 1
    with archive.open(more) as stream:
        yield stream


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """The content of a member, of the size that it declares."""
    with open_member(archive, info) as stream:
        content = stream.read(info.file_size + 1)
    if len(content) != info.file_size:
        raise zipfile.BadZipFile("a member has another size than it declares")
    return content


def check_book(data: bytes, name: str) -> None:
    """Refuse a workbook of which openpyxl would make more than the limit for one file, before it makes anything.

    It makes a cell for each place before the last one of a row, a row for each number before its own, and an object for
    each element of XML.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        check_members(archive, name)
        check_size(sum(info.file_size for info in archive.infolist()), f"{name} unpacked")
        places = 0
        for info in archive.infolist():
            with open_member(archive, info) as stream:
                places += _count_places(stream, info.file_size, places, name)


def _count_places(stream: IO[bytes], size: int, before: int, name: str) -> int:
    """The cells of a sheet; 0 for what is not XML, which no sheet can be."""
    from xml.parsers.expat import ExpatError, ParserCreate

    counter = _Counter(before, name)
    parser: Any = ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = counter.start, counter.end
    parser.StartDoctypeDeclHandler = counter.refuse  # it may define entities that stand for any amount of text
    is_xml, taken = True, 0
    while piece := stream.read(_PIECE):
        taken += len(piece)
        if taken > size:
            raise zipfile.BadZipFile("a member has another size than it declares")
        if is_xml:
            try:
                parser.Parse(piece)
            except ExpatError:
                is_xml = False
            counter.check()
            if taken - parser.CurrentByteIndex > _TAG:
                raise TableError(f"{name} holds a tag of more than {_TAG} bytes.")
    return counter.places


class _Counter:
    """Counts the elements that are in memory at one time, and the places of a sheet."""

    def __init__(self, before: int, name: str) -> None:
        self.places = self.depth = self.kept = self.done = self.now = self.unit = 0
        self._before, self._name = before, name
        self._last: str | None = None  # the last cell of the row that says where it is
        self._after = 0  # cells after it

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self.depth += 1
        if self.unit:
            self.now += 1 + len(attributes)
            if self.depth == self.unit + 1:  # a cell
                at = attributes.get("r")
                self._last, self._after = (self._last, self._after + 1) if at is None else (at, 0)
        elif tag.endswith(_ENDS):
            self.unit, self.now = self.depth, 1 + len(attributes)
            self._last, self._after = None, 0
            self._check_row(attributes.get("r", ""))
        else:
            self.kept += 1 + len(attributes)

    def end(self, tag: str) -> None:
        """An element ends."""
        if self.depth == self.unit:
            self.places += _column(self._last) + self._after
            self.unit, self.now = 0, 0
            self.done += 1
        self.depth -= 1

    def check(self) -> None:
        """Refuse what would take too much."""
        check_size(_ELEMENT * (self.kept + self.now) + _DONE * self.done, f"{self._name} unpacked")
        check_size(_PLACE * (self._before + self.places), f"{self._name} unpacked")

    def refuse(self, *_: object) -> None:
        """A definition of entities begins, which no table needs."""
        raise TableError(f"{self._name} defines entities of XML, which no table needs.")

    def _check_row(self, number: str) -> None:
        try:
            too_far = float(number) > _ROWS
        except ValueError:  # openpyxl says so, if it is the number of a row
            return
        if too_far:
            raise TableError(f"{self._name} has a row {number[:30]}, more than the {_ROWS} that a sheet has.")


_ENDS = tuple(f" {unit}" for unit in _UNITS)


def _column(cell: str | None) -> int:
    """The number of the column of a cell such as XFD7; 0 if it is none."""
    from openpyxl.utils.cell import coordinate_to_tuple

    try:
        return 0 if cell is None else int(coordinate_to_tuple(cell)[1])
    except ValueError:  # openpyxl says so when it reads the cell
        return 0
