"""Hatch's hook: the wheel contains the page of `cluewise web`, which is built first."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))
import page

WITHOUT = "CLUEWISE_WITHOUT_PAGE"


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the page unless the install is editable or the user does without."""

    def dependencies(self) -> list[str]:
        """Node from PyPI where there is none."""
        return [] if self._is_left_out() or page.find_node() else [page.NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page, and add it to the wheel."""
        if version == "editable" or self._is_left_out():
            return
        page.build()
        build_data["artifacts"].append("src/cluewise/web/static/**")

    def _is_left_out(self) -> bool:
        return bool(os.environ.get(WITHOUT))
