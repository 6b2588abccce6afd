"""Sequential constraints [Yi2015]: Figures 1 and 2, Table 1."""

from __future__ import annotations

from ...curves import Curves
from ...parts import Beside, Section, Table
from . import checks, claims, shown, times
from .runs import EXPERIMENTS, FIGURES, LARGE, SMALL, U
from .tiers import INERTIA, SIZES

__all__ = ["EXPERIMENTS", "SECTION"]

ALL = (1, 2, 3, 4, 5)
TUNED = (
    f"Eq. (11) has λ = {INERTIA:g} and C = 4/m, the library's defaults. These were set by experiments that looked at "
    "COIL20 and USPS, and MNIST had favored Eq. (11) in an early simulation "
    "(`docs/decisions/0006-sequential-clues-relaxed.md`); so Eq. (11) and the library's defaults were chosen with a "
    "look at three of the four sets, though not at these pairs and partitions."
)


def figure_2(part: str, data: tuple[str, ...], rivals: tuple[str, ...], about: str) -> Curves:
    """The sets with the same number of new pairs, and some of the rivals: more than seven lines look alike."""
    u = U[data[0]]
    ours: dict[str, dict[float, tuple[str, str, str]]] = {
        "SCSC": {t: (u, "SCSC", f"t{t}") for t in (0, *ALL)},
        "SCSC, Eq. (11)": {t: (u, "SCSC", f"relaxed t{t}") for t in (0, *ALL)},
        "SCSC, defaults": {t: (u, "SCSC, defaults", f"t{t}") for t in (0, *ALL)},
    }
    return Curves(
        f"Figure 2: NMI over tiers, {' and '.join(data)}, {rivals[0]} to {rivals[-1]}",
        f"seed003_figure2_{part}",
        about,
        FIGURES.name,
        data,
        ours | {name: {t: (u, name, f"t{t}") for t in ALL} for name in rivals},
        axes=("tier", "NMI (%)"),
        baseline=(u, "K-means"),
    )


SECTION = Section(
    title="Seed 003: sequential constraints (SCSC)",
    about="Five tiers of new random pairs, must-link or cannot-link by class: 100 a tier for COIL20 and USPS, 500 for "
    "the others. In the figures 10 000 random rows of Covtype stand in for all of it (our specification proposes "
    "20 000), and 5 000 of MNIST for MNIST8m; the rows are the same in all repetitions. Table 1 has all 581 012 rows "
    "of Covtype and all 70 000 of MNIST. MNIST8m is not here. Columns are as the files have them. Published profile of "
    "SCSC: 300 partitions by approximate kernel K-means in ⌈d/20⌉ random columns, made anew in each repetition, update "
    "by Eq. (8) from the weights of the tier before, largest membership. Kernel, landmarks, λ, the choice between "
    "Eqs. (8) and (11), and that between rounding and K-means are not in the paper: RBF with the median distance, 100 "
    "landmarks, one start; Eq. (8) has for λ the number of pairs before the tier (at least 1). "
    f"{TUNED} The other readings are shown as well. Rivals are run again on all pairs so far, then K-means from ten "
    "starts. RCA and DCA as published have no shrinkage; with the library's defaults they have. CCSKL is in its "
    "published profile, PMMC has one start, PGDM, LMNN and ITML have the library's defaults; these, and all that is "
    "called defaults but SCSC, are run after tiers 1, 3 and 5 only. NMI (√) over all rows, in percent.",
    parts=[
        Curves(
            "Figure 1: NMI against the number of partitions",
            "seed003_figure1",
            "One tier of 500 pairs, the first m partitions of the same ensemble. The paper's points are lost; its text "
            "is checked below.",
            FIGURES.name,
            LARGE,
            {
                "SCSC": {m: ("u=500", "SCSC", f"m={m}") for m in SIZES},
                "SCSC, Eq. (11)": {m: ("u=500", "SCSC", f"relaxed m={m}") for m in SIZES},
            },
            axes=("m", "NMI (%)"),
        ),
        checks.FIGURE_1,
        figure_2(
            "small",
            SMALL,
            claims.STEADY,
            "The dashed line is K-means, which sees no pairs. The paper's points are lost.",
        ),
        figure_2("others", SMALL, claims.RIVALS[3:], "The other rivals, which the paper has on the small sets only."),
        figure_2("large", LARGE, claims.STEADY, "Samples of rows."),
        Table(
            "After tiers 1, 3 and 5",
            "NMI (%), mean and standard deviation. Rivals as published can be poor opponents. DCA without shrinkage "
            "may get worse with more pairs, and CCSKL may be far below its defaults while pairs are few; where this "
            "is so is in the table and, counted, in the last two of our checks below.",
            shown.rival_table,
        ),
        Table(
            "Readings of SCSC",
            "NMI (%) before any pair, after the first and after the fifth tier. K-means: hard clusters by K-means on "
            f"the memberships. Eq. (11) is taken in its limit. {TUNED} The first four share their ensembles; the "
            "library's defaults are Eq. (11), on partitions by K-means.",
            shown.readings,
        ),
        checks.FIGURE_2,
        checks.OWN,
        Beside(
            "Table 1: time of an update, as ratios",
            "Seconds of the other method divided by those of SCSC, partitions made before; seconds of the processor, "
            "one thread, the fastest of three runs. The paper times “updating the data partitions” and does not say "
            "what that includes; its times for RCA and DCA on MNIST8m leave hardly any room for the product of all "
            "rows with the learned matrix. So both are shown: learning alone (the weights of SCSC, the distance of a "
            "rival), and the whole (labels of all rows; one start of K-means). SCSC is timed at the first tier only "
            "and sees its pairs; a rival sees those of three tiers, its mean load over five. The partitions are made "
            "cheaply here, from few rows, which makes no difference to the time of an update. Printed for MNIST: "
            "MNIST8m. Where repetitions were late, the mean is of those that ended.",
            times.ratios,
            published="seed003_table1_time",
            why=times.why_apart,
        ),
        checks.TIMES,
    ],
    notes=[
        "Seed 003 is checked on samples and on MNIST instead of MNIST8m. That 8 million samples are updated in seconds "
        "is not repeated here; `experiments/scsc_8m.py` does it on rows made from MNIST.",
        "That PGDM, LMNN, CCSKL and PMMC do not end within two hours on Covtype and MNIST8m is not checked.",
        "Eqs. (4) to (6) and Algorithm 1 of seed 003 have misprints; the mended ones are used, with those as printed "
        "the weights go to the partitions that violate the pairs.",
    ],
)
