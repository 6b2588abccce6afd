"""The catalogue finds clusterers by what they take, and by whatever people call them."""

import pytest

import cluewise as cw
from cluewise.catalogue import _FAMILIES, clusterers, get


def test_all_of_them():
    others = {"DirichletMultinomial", "NormalInverseWishart", "partitions", "DistBoost"}  # priors, a function, a metric
    named = {name for family in _FAMILIES for name in family.__all__} - others
    assert list(clusterers()) == sorted(named)
    assert all(getattr(cw, name) is cls for name, cls in clusterers().items())


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"accepts": ["partitions"]}, ["KCC", "PartitionKMeans"]),
        (
            {"accepts": ["cannot"], "hard": True},
            ["COPKMeans", "ConstrainedAgglomerative", "ConstrainedDBSCAN", "EquivalenceGMM", "PCCC"],
        ),
        (
            {"accepts": ["cannot", "labels"], "hard": False},
            [
                "BoostCluster",
                "CVQE",
                "ClosurePCKMeans",
                "ConstrainedHDBSCAN",
                "E2CP",
                "FeedbackNaiveBayes",
                "FlexibleSpectral",
                "HMRFKMeans",
                "LCVQE",
                "MKMeans",
                "MPCKMeans",
                "MaxMarginClusterer",
                "PCKMeans",
                "PKMeans",
                "PenalizedGMM",
                "RDPMeans",
                "RelationalSpectral",
                "SCSC",
                "SpectralKernelKMeans",
                "TVClust",
            ],
        ),
        (
            {"hard": True},
            [
                "BalancedKMeans",
                "COPKMeans",
                "ConstrainedAgglomerative",
                "ConstrainedDBSCAN",
                "ConstrainedKMeans",
                "EquivalenceGMM",
                "PCCC",
                "SizedKMeans",
            ],
        ),
        ({"hard": False, "accepts": ["partitions"]}, ["KCC", "PartitionKMeans"]),
        ({"predicts": False, "accepts": ["partitions"]}, ["KCC"]),
        ({"predicts": False, "hard": True}, ["ConstrainedAgglomerative", "ConstrainedDBSCAN"]),
        ({"predicts": True, "hard": True, "accepts": ("apart",)}, ["COPKMeans", "EquivalenceGMM", "PCCC"]),
        ({"accepts": ["sizes"]}, ["BalancedKMeans", "PCCC", "SizedKMeans"]),
        ({"accepts": ["avoid"]}, ["CondEns", "ConditionalIB", "CoordinatedConditionalIB"]),
    ],
)
def test_filters(filters, names):
    assert list(clusterers(**filters)) == names


@pytest.mark.parametrize("name", ["PCKMeans", "pckmeans", "PCK-Means", "pairwise constrained k-means"])
def test_get_by_name_or_alias(name):
    assert get(name) is cw.PCKMeans


def test_a_typo_gets_a_hint():
    with pytest.raises(ValueError, match=r"no clusterer 'PCKMean'; did you mean PCKMeans\?"):
        get("PCKMean")
    with pytest.raises(ValueError, match="no clusterer 'xyzzy'"):
        get("xyzzy")
