"""Trust: the share of wrong links is found where fits are sure, whatever they say elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from cluewise.clues import Clues
from cluewise.front._trust import rate_sources


@pytest.mark.parametrize("wrong", [0.1, 0.2, 0.3])
def test_links_of_which_fits_are_sure_tell_the_share_that_is_wrong(wrong):
    sure, unsure = np.full(200, 0.99), np.full(200, 0.6)
    sure[: round(200 * wrong)] = 0.01
    right = np.concatenate([sure, unsure])
    pairs = np.column_stack([np.arange(400), np.arange(400) + 1])
    doubt = np.full(400, 0.15)  # as calibration says where it is careful
    found = rate_sources(
        Clues(401, must=pairs[::2], cannot=pairs[1::2]), doubt, right[np.r_[:400:2, 1:400:2]], np.empty(0)
    )
    assert {kind: pytest.approx(1 - wrong, abs=0.03) for kind in ("must", "cannot", "all")} in found.values()
