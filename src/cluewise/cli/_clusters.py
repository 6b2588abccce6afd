"""What makes the clusters of a fit, for the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluewise.cli._show import say

if TYPE_CHECKING:
    from cluewise.explain import Description

__all__ = ["one_line", "tell"]

_TOLD = 10  # clusters that the text describes, the largest ones
_DIFFERENCES = 3  # of each
_LONGEST = 240  # letters of a line


def tell(found: Description, names: dict[str, str]) -> None:
    """Print a line or two about each cluster; ``names`` are by id."""
    largest = sorted(found, key=lambda profile: -profile.size)[:_TOLD]
    for profile in sorted(largest, key=lambda profile: profile.cluster):
        name = names.get(str(profile.cluster), "")
        said = "; ".join(map(str, profile.differences[:_DIFFERENCES])) or "no column differs much by itself"
        say(one_line(f"Cluster {profile.cluster} {name} ({profile.name}): {said}"))
        if profile.rule is not None:
            say(one_line(f"  rule: {profile.rule}"))
    if len(found) > _TOLD:
        say(f"… and {len(found) - _TOLD} smaller clusters (--report FILE describes all).")


def one_line(words: str) -> str:
    """Words from a table without line breaks and characters that steer a terminal, and not too long."""
    margin = words[: len(words) - len(words.lstrip(" "))]
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(words.split()))
    return margin + (line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…")
