"""A survey of semi-supervised clustering [Truong2013]: Tables 1 and 2, and what its text says of other methods."""

from __future__ import annotations

from functools import partial

from ...parts import Beside, Claim, Claims, Section, Table
from ...published import Printed
from . import claims, coherent_claims, other_claims
from .others import LANE, RIVALS, STRENGTHS, UNLIKE
from .runs import DEFAULTS, METHODS, READINGS, SAME_START, TABLE_1, TABLE_2

__all__ = ["EXPERIMENTS", "SECTION"]

EXPERIMENTS = [TABLE_1, DEFAULTS, READINGS, SAME_START, TABLE_2, LANE, RIVALS, UNLIKE]

NOT_STATED = (
    "starts, weights, the treatment of failures and whether a set is compared with one run or with a mean are not "
    "stated, so the pattern is the target and not the number"
)
UNKNOWN_MKM = (
    "No reason is known. MKM uses pairs in its metric only, so it differs little from its run without pairs; none of "
    "the readings that were tried (table of readings) gives the whole printed column"
)
NOT_MIXED_EITHER = (
    "Most coherent sets have pairs of one kind (table of coherent sets), but the gain is not significant with sets of "
    "both kinds either; no reason is known"
)


def why_2(number: Printed) -> str:
    """Why a number of Table 2 cannot be compared."""
    if (number.data, number.method) == ("Ionosphere", "MPKM"):
        return (
            "almost certainly copied from the row of Iris: both numbers are the same as there, and all others of this "
            "row are close to K-means"
        )
    return (
        "sets of 25 pairs that are fully coherent could not be found; with fewer pairs only the direction is compared"
    )


def more_news(method: str) -> Claim:
    """Iris: more news, higher accuracy."""
    says = f"Among coherent sets on Iris, those with high informativeness improve {method} significantly"
    return Claim(
        says,
        partial(coherent_claims.helps, data="iris", method=method),
        "" if method == "CKM" else NOT_MIXED_EITHER,
    )


def competitive(strength: int) -> Claim:
    """Made-up documents."""
    return Claim(
        f"CondEns is competitive to CCIB (what is to be found is {strength} times weaker than what is known)",
        partial(other_claims.competitive, strength=strength),
        "CondEns uses K-means inside each known group, and on raw counts that is lost in the noise of the many words "
        "of the known side; on the roots of the counts, whose noise is the same for all words, it is not",
    )


SECTION = Section(
    title="Survey: how often do clues hurt?",
    about="Tables 1 and 2 are those of Davidson, Wagstaff and Basu (2006). Raw columns; k is the number of classes; "
    "random pairs, all of them true; CKM is `COPKMeans`, PKM `PKMeans`, MKM `MKMeans`, MPKM `MPCKMeans` with one "
    "diagonal metric; “accuracy” is the unadjusted Rand index, which is what fits the printed levels. Published "
    "profile: one start, weights 1, at most 100 iterations, no imaginary rows in a metric, and in Table 1 with the "
    "pairs that follow from those drawn, which the authors' code adds; also without these. CKM and MKM start at the "
    "same place with pairs and without. PKM and MPKM start from the must-link groups when there are pairs (as the "
    "authors' code), so for them Table 1 mixes the effects of start and of penalties. Library defaults: the same "
    "classes with nothing but the number of clusters given, on the pairs as drawn.",
    parts=[
        Beside(
            "Table 1: sets of 25 pairs with which a method does worse (%)",
            "In brackets: 95 % interval of the share. Rand index in percent, means. The `COPKMeans` of the library "
            "searches where the original gives up, so it fails only when its time is over. The defaults see a quarter "
            "of the sets.",
            claims.table_1,
            published="survey",
            of=lambda number: number.table == "1",
            why=lambda number: NOT_STATED,
        ),
        Claims(
            "The pattern of Table 1",
            [
                Claim(
                    "Most sets hurt MKM on Wine (more than half of them)",
                    partial(claims.often, data="wine", method="MKM"),
                    UNKNOWN_MKM,
                ),
                Claim("Most sets hurt MPKM on Wine", partial(claims.often, data="wine", method="MPKM")),
                Claim("Most sets hurt PKM on Ionosphere", partial(claims.often, data="ionosphere", method="PKM")),
                Claim("Most sets hurt MPKM on Ionosphere", partial(claims.often, data="ionosphere", method="MPKM")),
                Claim(
                    "Hardly any set hurts PKM on Glass (5 % at most)",
                    partial(claims.seldom, data="glass", method="PKM"),
                ),
                Claim(
                    "Hardly any set hurts MPKM on Glass (5 % at most)",
                    partial(claims.seldom, data="glass", method="MPKM"),
                    "It is seldom here too; 5 % is a limit of ours",
                ),
                Claim(
                    "In no other cell of the table do most sets hurt",
                    claims.no_others,
                    "No reason is known; PKM on Wine and MKM on Glass are near one half",
                ),
                Claim("In some cases the fraction of sets that hurt is extremely high", claims.extreme),
                Claim(
                    "Incoherent sets with low informativeness result in an adverse effect",
                    claims.little_news,
                    "It depends on the data: such sets hurt every method on Ionosphere and help most on Glass",
                ),
            ],
        ),
        Table(
            "Readings of MKM",
            "Sets that hurt (%) with entailed pairs, and the 95 % interval. The authors' code starts MKM near the mean "
            "of all rows; which metric was learned is not stated.",
            claims.readings,
        ),
        Table(
            "PKM and MPKM from the same start",
            "Sets that hurt (%) with entailed pairs, and the 95 % interval; Rand index in percent, means. Both runs "
            "begin at the rows where CKM begins, so nothing but the penalties can hurt. That the shares of Table 1 are "
            "near 0 on Glass mostly comes from the start: the one from must-link groups is better.",
            claims.starts,
        ),
        Beside(
            "Table 2: accuracy among fully coherent sets (%), high / low informativeness",
            "Sets above the median informativeness (the share of pairs that K-means breaks, in one run from one start) "
            "/ all others; in brackets the difference and its standard error. The methods get the pairs as drawn, "
            "without those that follow from them. Overlap of two pairs by the exact rule, or as published. Sets are "
            "drawn until 200 are coherent.",
            coherent_claims.table_2,
            published="survey",
            of=lambda number: number.table == "2",
            why=why_2,
        ),
        Table(
            "Coherent sets",
            "Sets that are fully coherent, of those drawn, and how many of them have only must-links or only "
            "cannot-links: such a set is coherent whatever it says. The paper prints no such counts, so they cannot "
            "tell which rule it used, or what its sets were like.",
            coherent_claims.kept,
        ),
        Claims(
            "The text on Table 2",
            [
                *(more_news(method) for method in METHODS),
                Claim(
                    "On Wine (so the text) high informativeness does not show any effect",
                    partial(coherent_claims.no_effect, data="wine"),
                ),
                Claim(
                    "On Ionosphere (so the table) it does not show any effect",
                    partial(coherent_claims.no_effect, data="ionosphere"),
                    "Four differences must stay within two standard errors, and by chance alone one is outside in one "
                    "case of six; here it is CKM alone, by less than half a point, but too clearly for chance",
                ),
                Claim(
                    "Most sets with high informativeness and coherence improve the performance",
                    coherent_claims.improves,
                    "It depends on the method and the data; no reason is known",
                ),
            ],
        ),
        Beside(
            "Introduction: lane finding, accuracy (%)",
            "The GPS data are not public. Made-up roads instead: four lanes, six cars in each, twenty points of each "
            "car. A car keeps to its lane (must-links), and points more than four meters apart across the road are not "
            "in one lane (cannot-links), as in the paper that the survey quotes. Both methods have the library's "
            "(K-means: scikit-learn's) defaults and five starts.",
            other_claims.lane_table,
            published="survey",
            of=lambda number: number.table == "intro",
            why=lambda number: "the data are not public; made-up roads show the effect",
        ),
        Table(
            "Rivals: ARI",
            "Mean over 20 draws of 100 pairs, columns of variance 1, library defaults. DistBoost is followed by "
            "average linkage, the metric of Xing et al. by K-means.",
            other_claims.rivals,
        ),
        Claims(
            "Other sentences",
            [
                Claim(
                    "Lanes: constraints turn a poor result of K-means into a nearly perfect one",
                    other_claims.lane_effect,
                ),
                Claim(
                    "DistBoost outperforms the metric of Xing et al.",
                    partial(other_claims.beats, better="DistBoost", other="Xing"),
                ),
                Claim(
                    "DistBoost outperforms constrained GMM-EM",
                    partial(other_claims.beats, better="DistBoost", other="GMM-EM"),
                    "They are level: DistBoost is a vote of such mixtures, and one of them does as well here",
                ),
                Claim(
                    "DistBoost outperforms COP-KMEANS",
                    partial(other_claims.beats, better="DistBoost", other="COP-KMEANS"),
                ),
                Claim(
                    "Constrained GMM-EM outperforms COP-KMEANS",
                    partial(other_claims.beats, better="GMM-EM", other="COP-KMEANS"),
                ),
                Claim(
                    "In constrained GMM-EM the improvement is mostly contributed by must-links",
                    other_claims.mostly_must,
                    "Must-links alone and cannot-links alone help about as much here; the survey does not tell the "
                    "data and the numbers of pairs",
                ),
                Claim(
                    "BoostCluster outperforms HMRF-KMEANS in most cases",
                    other_claims.boosts,
                    "No reason is known; the survey does not tell the data and the numbers of pairs",
                ),
                *(competitive(strength) for strength in STRENGTHS),
                Claim("The running time of CondEns is significantly smaller than that of CCIB", other_claims.quicker),
            ],
        ),
    ],
    notes=[
        "Table 2, Ionosphere, MPKM: both numbers are those of the row of Iris, a misprint.",
        "The text on Table 2 discusses Wine, the table shows Ionosphere; both are run here.",
        "Not run: imputed constraints of a committee, dependent against independent gain, active constrained DBSCAN "
        "against other active methods.",
    ],
)
