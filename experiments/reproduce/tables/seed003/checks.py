"""The sentences of seed 003 that are checked, and reasons where they may fail; reasons hold whatever comes out."""

from __future__ import annotations

from functools import partial

from ...parts import Claim, Claims
from . import claims, times

RELAXED = "relaxed "
EXACT = (
    "The loss of Eq. (8) does not ask who is right: a cannot-link between rows that are spread over many clusters "
    "costs less than one between rows that are surely apart, so partitions that contradict each other gain weight. "
    "That fits what is seen, and is not proved (`docs/decisions/0006-sequential-clues-relaxed.md`)"
)
NOT_BEST = (
    "How much hangs on the reading is in the table of readings. Weights choose between partitions that look at a "
    "twentieth of the columns; kernel and scaling, on which these depend, are not in the paper, nor are the rivals' "
    "parameters"
)
CHANCE = (
    "No reason is known for certain. Few partitions of Covtype are any good, so much may hang on which of them are "
    "among the first; and a difference that is called level may be chance"
)
SPREAD = (
    "No reason is known. The numbers in brackets say on which sets the rivals vary more, the next sentence whether "
    "shrinkage changes it"
)
COLUMNS = (
    "Probably because a partition sees a twentieth of the columns and K-means all of them; weights cannot make up for "
    "what no partition has. Not proved"
)

FIGURE_1 = Claims(
    "The text on Figure 1",
    [
        Claim(
            f"{what}, {rule}",
            partial(check, variant=variant),
            CHANCE,
        )
        for what, check in (
            (
                "NMI keeps increasing when m becomes larger (it is higher at 300 than at 50, and no step falls by more "
                "than half a point)",
                claims.rises_with_m,
            ),
            (
                "It gradually stabilizes as m increases to 300 (it rises, and the last step is at most a fifth of the "
                "range)",
                claims.flattens,
            ),
        )
        for rule, variant in (("Eq. (8)", ""), ("Eq. (11)", RELAXED))
    ],
)
FIGURE_2 = Claims(
    "The text on Figure 2",
    [
        Claim("SCSC accomplishes the best performance on all four datasets (t1, t3, t5)", claims.best, NOT_BEST),
        Claim("SCSC is the best on all four datasets, Eq. (11)", partial(claims.best, variant=RELAXED), NOT_BEST),
        Claim(
            "SCSC outperforms all the competing algorithms from the very beginning (t1)",
            partial(claims.best, tiers=(1,)),
            NOT_BEST,
        ),
        Claim("The variance of SCSC is larger than that of RCA, DCA and ITML", claims.varies, SPREAD),
        Claim(
            "The variance of SCSC is larger than that of RCA and DCA with shrinkage (library defaults), and of ITML",
            partial(claims.varies, shrunk=True),
            "No reason is known; it is not that shrinkage is missing. The numbers in brackets say on which sets",
        ),
        Claim(
            "The starting point γ⁰ incorporates the strengths of multiple partitions (it is better than they are on "
            "average)",
            claims.starts_well,
            "Where partitions are poor, an equal vote can put nearly all rows into one cluster; how many clusters have "
            "rows, on average, is in brackets",
        ),
        Claim(
            "Partitions consistent with the new pairs are assigned larger weights, Eq. (8) (with Eq. (11) it cannot be "
            "otherwise)",
            partial(claims.favors, pairs="broken"),
            EXACT,
        ),
    ],
)
OWN = Claims(
    "Checks of ours, not the paper's, that do not need the lost figures",
    [
        Claim(
            "Weights after t1 lie on partitions that keep more of the pairs of t2, not seen yet, Eq. (8)",
            partial(claims.favors, pairs="unseen"),
            EXACT,
        ),
        Claim(
            "Weights after t1 lie on partitions that keep more of the pairs of t2, not seen yet, Eq. (11)",
            partial(claims.favors, pairs="unseen", variant=RELAXED),
            "Which pairs of one tier a partition breaks says little of others where pairs are few",
        ),
        Claim(
            "NMI at t5 is not below NMI at t0 by more than one standard error, Eq. (8)",
            partial(claims.gains, method="SCSC"),
            EXACT,
        ),
        Claim(
            "NMI at t5 is not below NMI at t0 by more than one standard error, Eq. (11)",
            partial(claims.gains, method="SCSC", variant=RELAXED),
            "Little can be gained where partitions are much alike and pairs are few for the number of clusters",
        ),
        Claim(
            "NMI at t5 is not below NMI at t0 by more than one standard error, library defaults",
            partial(claims.gains, method="SCSC, defaults"),
            "Little can be gained where partitions are much alike and pairs are few for the number of clusters",
        ),
        Claim(
            "SCSC with the pairs of five tiers is above K-means without pairs, Eq. (8)",
            partial(claims.above_plain, method="SCSC"),
            COLUMNS,
        ),
        Claim(
            "SCSC with the pairs of five tiers is above K-means without pairs, Eq. (11)",
            partial(claims.above_plain, method="SCSC", variant=RELAXED),
            COLUMNS,
        ),
        Claim(
            "SCSC with the pairs of five tiers is above K-means without pairs, library defaults",
            partial(claims.above_plain, method="SCSC, defaults"),
            COLUMNS,
        ),
        Claim("The loss of the memberships over all pairs falls from t0 to t5, Eq. (8)", claims.loss_falls),
        Claim(
            "The loss of the memberships over all pairs falls from t0 to t5, Eq. (11)",
            partial(claims.loss_falls, variant=RELAXED),
            "Eq. (11) does not minimize it but counts broken pairs, and the two are not the same: a low loss does not "
            "mean that few pairs are broken",
        ),
        Claim("Hard clusters break fewer of the pairs at t5 than at t0, Eq. (8)", claims.fewer_broken, EXACT),
        Claim(
            "Hard clusters break fewer of the pairs at t5 than at t0, Eq. (11)",
            partial(claims.fewer_broken, variant=RELAXED),
        ),
        Claim(
            "No rival as published is worse at t5 than at t1 by more than one standard error",
            claims.unharmed,
            "DCA as published has no shrinkage, which is a likely reason for it; its line with the library's defaults "
            "is in the table. For others no reason is known",
        ),
        Claim(
            "RCA, DCA and CCSKL as published are not below the library's defaults by more than one standard error "
            "(t1, t3, t5)",
            claims.as_good_as_defaults,
            "RCA and DCA as published have no shrinkage, CCSKL neither the division by degrees and lengths nor the "
            "trust of the library; so the comparison with them as published flatters SCSC where they are poor",
        ),
    ],
    kind="check",
)
TIMES = Claims(
    "The text on Table 1",
    [
        Claim("SCSC is the fastest on all four sets (the whole)", partial(times.fastest, stage="whole")),
        Claim("SCSC is the fastest on all four sets (learning alone)", partial(times.fastest, stage="learn")),
        Claim(
            "The update of γ takes time irrespective of the data size n, Eq. (8) (at most twice as long with a hundred "
            "times as many rows)",
            partial(times.independent, method="SCSC"),
        ),
        Claim(
            "The update of γ takes time irrespective of n, library defaults",
            partial(times.independent, method="SCSC, defaults"),
            "It looks up the labels of the pairs and does little else; probably, where there are few rows, all labels "
            "fit into the caches of the processor, and it is faster still",
        ),
        Claim(
            "Classical algorithms re-optimize over all samples: they grow faster with n than SCSC (learning alone)",
            partial(times.grows_least, stage="learn"),
            "RCA, DCA and ITML learn from the pairs; of all rows they need little more than means and deviations",
        ),
        Claim(
            "Classical algorithms re-optimize over all samples: they grow faster with n than SCSC (the whole)",
            partial(times.grows_least, stage="whole"),
            "SCSC has to label all rows, too",
        ),
    ],
)
