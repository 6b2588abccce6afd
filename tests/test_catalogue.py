"""The catalogue finds clusterers by what they take, and by whatever people call them."""

import subprocess
import sys

import pytest

import cluewise as cw
from cluewise.base import Clusterer
from cluewise.catalogue import clusterers, get

KINDS = ["labels", "must", "cannot", "together", "apart", "partitions", "sizes", "avoid"]


def test_every_public_clusterer_is_there():
    public = {name: getattr(cw, name) for name in cw.__all__}
    found = {name: cls for name, cls in public.items() if isinstance(cls, type) and issubclass(cls, Clusterer)}
    assert dict(clusterers()) == found
    assert list(clusterers()) == sorted(found)


@pytest.mark.parametrize("hard", [None, True, False])
@pytest.mark.parametrize("predicts", [None, True, False])
def test_filters_go_by_the_cards(hard, predicts):
    for accepts in ([], *([kind] for kind in KINDS), ["cannot", "labels"]):
        found = clusterers(accepts=accepts, hard=hard, predicts=predicts)
        for name, cls in clusterers().items():
            card = cls.card
            wanted = set(accepts) <= card.accepts and hard in (None, card.hard) and predicts in (None, card.predicts)
            assert (name in found) == wanted


def test_a_few_that_everybody_expects():
    assert {"COPKMeans", "PCCC"} <= set(clusterers(accepts=["cannot"], hard=True))
    assert {"PCKMeans", "E2CP"} <= set(clusterers(accepts=["cannot", "labels"], hard=False))
    assert "SizedKMeans" in clusterers(accepts=["sizes"])
    assert "CondEns" in clusterers(accepts=["avoid"])


@pytest.mark.parametrize("name", ["PCKMeans", "pckmeans", "PCK-Means", "pairwise constrained k-means"])
def test_get_by_name_or_alias(name):
    assert get(name) is cw.PCKMeans


@pytest.mark.parametrize("name", ["Clues", "metrics", "DistBoost", "__version__"])
def test_other_public_names_are_no_clusterers(name):
    with pytest.raises(ValueError, match=f"no clusterer '{name}'"):
        get(name)


def test_a_typo_gets_a_hint():
    with pytest.raises(ValueError, match=r"no clusterer 'PCKMean'; did you mean PCKMeans\?"):
        get("PCKMean")
    with pytest.raises(ValueError, match="no clusterer 'xyzzy'"):
        get("xyzzy")


def test_a_name_loads_its_own_family_only():
    code = (
        "import sys\n"
        "from cluewise.catalogue import get\n"
        "get('PCKMeans')\n"
        "print([f for f in ('mixture', 'spectral', 'advice') if f'cluewise.{f}' in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
