"""Partition-level side information [Liu2015]: Tables II and III, Figures 2 to 4."""

from __future__ import annotations

from functools import partial

from ...curves import Curves
from ...findings import Where
from ...parts import Claim, Claims, Comparison, Reason, Section, Table
from ...published import Printed, max_of
from . import claims
from .runs import (
    EXPERIMENTS,
    FIGURE_3,
    FIGURE_4,
    LARGE,
    NOISES,
    PUBLISHED,
    SHARES,
    SMALL,
    TABLE_2,
    TABLE_2_LARGE,
    TOO_MANY,
    TRUSTS,
    cell,
)

__all__ = ["EXPERIMENTS", "SECTION"]


def default_cell(number: Printed) -> Where | None:
    """The same with the library's defaults, where these are run."""
    where = cell(number.data, number.setting, f"{number.method}, defaults")
    known = TABLE_2 if number.data in SMALL else TABLE_2_LARGE
    return where if where.method in known.methods else None


def tolerance(number: Printed) -> float | None:
    """Two points or one standard deviation, on the sets and for the methods where that can be asked."""
    if number.method == "Ours" and number.data in ("breast", "ecoli", "glass", "iris"):
        return max_of(2.0, number)
    if number.method == "KCC" and number.data in ("breast", "ecoli", "iris"):
        return max_of(2.0, number)
    return None


REASONS = [
    Reason(
        "Half of pendigits makes fifteen million pairs, and the class refuses to write out more than ten million",
        lambda number: number[1:4] == TOO_MANY,
    ),
    Reason(
        "The footnote says that the last attribute is divided by 1000. The K-means column fits a divisor of 100 "
        "(which is used here), the constrained columns fit no divisor that was tried",
        lambda number: number.data == "wine",
    ),
    Reason(
        "The printed KCC column is flat; with one K-means partition and the labels at 1 : 100 KCC follows the labels, "
        "so it has to rise with their number, and does",
        lambda number: number.data == "glass" and number.method == "KCC",
    ),
    Reason(
        "LCVQE depends on the order of the pairs, which is not given; only its trend is checked (below)",
        lambda number: number.method == "LCVQE",
    ),
]


SAME_ORDER = (
    "The order is the same, the distance is not: here all three are compiled and share their parts; how the paper "
    "implemented its rivals is not told"
)


def by_share(method: str) -> dict[float, tuple[str, str]]:
    """A line of Table II."""
    return {share: (f"{share}%", method) for share in SHARES}


SECTION = Section(
    title="Seed 000: K-means with partition-level side information",
    about="Labels for a share of the rows, drawn anew in each of 50 repetitions; λ = 100; NMI (√) over all rows, "
    "in percent. Published profile: starts from random rows, ten of them for Ours (the paper tells of no restarts, but "
    "a single start does not reach its numbers), one for LCVQE and K-means; KCC fuses one K-means partition with the "
    "labels, from ten starts. Library defaults: the same classes with nothing but the number of clusters given.",
    parts=[
        Comparison(
            title="Table II: NMI (%)",
            published="seed000_table2_nmi",
            where=lambda number: None if number[1:4] == TOO_MANY else cell(*number[1:4]),
            measure={"NMI_percent": ("nmi", 100.0)},
            tolerance=tolerance,
            rule="the mean is within max(2 points, one published standard deviation): Ours on breast, ecoli, glass and "
            "iris, KCC on the same less glass.",
            defaults=default_cell,
            reasons=REASONS,
        ),
        Claims(
            "The text on Table II",
            [
                Claim(
                    "Our method achieves the best performance in most scenarios",
                    claims.best,
                    "LCVQE does better here than in the paper and is level with Ours on several sets; KCC is ahead on "
                    "the large sets with fewer labels already, and on wine, where the data are not those of the paper",
                ),
                Claim("… except on pendigits and satimage with 40 % and 50 % side information", claims.except_large),
                Claim(
                    "Our method keeps consistently increasing with the share of labels",
                    partial(claims.rises, method="Ours"),
                    "It does not hold in the printed table either: on pendigits 50 % are below 10 %, and on satimage "
                    "the printed gain is a fraction of a point",
                ),
                Claim("KCC keeps consistently increasing", partial(claims.rises, method="KCC")),
                Claim(
                    "LCVQE gets worse results with more guidance on glass, pendigits, satimage and wine",
                    claims.worse,
                    "Here LCVQE stays near K-means or gains a little. The paper blames the order of the pairs; drawn "
                    "at random, as here, it makes no such difference",
                ),
                Claim("LCVQE has no steady gain on glass", claims.no_gain),
                Claim("Our method enjoys better stability than LCVQE and KCC (five small sets)", claims.steadier),
            ],
        ),
        Curves(
            "Figure 2: gain over K-means",
            "seed000_figure2",
            "Table II less its K-means column.",
            TABLE_2.name,
            ("glass", "wine"),
            {method: by_share(method) for method in PUBLISHED},
            axes=("labels (%)", "NMI less that of K-means"),
            baseline=("0%", "K-means"),
            gain=True,
        ),
        Table(
            "Table III: time, as ratios",
            "One start each on one thread, the fastest of three fits; seconds of another machine cannot be compared, "
            "ratios can. Printed: seconds of the paper divided by those of its method.",
            claims.ratios,
        ),
        Claims(
            "The text on Table III",
            [
                Claim(
                    "On pendigits our method is 10 times faster than KCC",
                    partial(claims.faster, method="KCC", times=10),
                    SAME_ORDER,
                ),
                Claim(
                    "… and nearly 170 times faster than LCVQE",
                    partial(claims.faster, method="LCVQE", times=150),
                    SAME_ORDER,
                ),
            ],
        ),
        Curves(
            "Figure 3: the weight of the labels",
            "seed000_figure3",
            "50 % of the rows are labelled. The paper's points are lost; its text is checked below.",
            FIGURE_3.name,
            tuple(LARGE),
            {method: {t: ("50%", f"{method} {t:g}") for t in TRUSTS} for method in ("Ours", "KCC")},
            axes=("λ", "NMI (%)"),
            log=True,
        ),
        Curves(
            "Figure 4: wrong labels",
            "seed000_figure4",
            "10 % of the rows are labelled, a part of these at random. The paper's points are lost; its text is "
            "checked below.",
            FIGURE_4.name,
            tuple(FIGURE_4.data),
            {method: {noise: (f"{noise}%", method) for noise in NOISES} for method in PUBLISHED},
            axes=("labels drawn anew (%)", "NMI (%)"),
        ),
        Claims(
            "The text on Figures 3 and 4",
            [
                Claim("Ours goes up as λ increases and is stable from about 1e4", claims.rises_with_trust),
                Claim(
                    "KCC keeps stable results with the change of λ, but suffers from heavy volatility",
                    claims.kcc_steady,
                ),
                Claim("Ours is robust even when the noise ratio is up to 50 %", claims.robust),
                Claim(
                    "The performance of LCVQE and KCC drops sharply with noise",
                    claims.sharp,
                    "All of them fall, but “sharply” is taken to mean more than five points when half of the labels "
                    "are drawn anew, and LCVQE does not lose as much on pendigits",
                ),
            ],
        ),
    ],
    notes=[
        "The text gives standard deviations of 17.5 (LCVQE on breast, 50 %) and 16.7 (KCC on iris, 20 %); Table II has "
        "16.56 and 11.65 in these cells.",
    ],
)
