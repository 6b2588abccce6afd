"""Columns of text: tf-idf of words and of characters, reduced to a few columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cluewise._typing import Array, Floats
from cluewise.rows._cells import Cells, Words
from cluewise.rows._encoder import Encoded, Encoder, Piece, as_words

__all__ = ["Spelling", "Text"]

_TERMS = 10_000  # words, and as many groups of characters, that are kept
_LONG = 50  # words per text; spelling matters less in long texts, and costs more
_SHOWN = 3  # words that stand for a text


@dataclass(frozen=True, eq=False)
class Text(Encoder):
    """A few directions of the space of words (and of groups of characters, unless the texts are long)."""

    kind: ClassVar[str] = "text"

    form: str  # "short", "long" or "levels"
    words: list[str]
    word_idf: Array
    grams: list[str]
    gram_idf: Array
    components: Array  # (directions, words and groups of characters)
    center: Array

    @classmethod
    def fit(cls, cells: Cells, *, form: str, n_components: int, random_state: int) -> tuple[Text, Encoded] | str:
        """Learn the terms and the directions, and encode; ``form`` "levels" is for categories of many levels."""
        from sklearn.utils.extmath import randomized_svd

        column = as_words(cells)
        none = np.empty(0)
        words: list[str] = []
        grams: list[str] = []
        word_idf = gram_idf = none
        blocks = []
        fewest = 2 if len(column.levels) >= 50 else 1
        if form != "levels":
            words, word_idf, block = _learn(_word_terms(min_df=fewest, max_features=_TERMS), column.levels)
            blocks.append(block)
        if form != "long":
            grams, gram_idf, block = _learn(_gram_terms(min_df=fewest, max_features=_TERMS), column.levels)
            blocks.append(block)
        terms = _join(blocks)
        if terms.shape[1] == 0:
            return "it holds no words"
        # Different texts in alphabetical order, each as often as it occurs: the order of the rows does not matter.
        counts = column.counts
        repeated = terms if (counts == 1).all() else terms.multiply(np.sqrt(counts)[:, None]).tocsr()
        size = max(min(n_components, min(terms.shape) - 1), 1)
        components = randomized_svd(repeated, size, n_iter=5, random_state=random_state)[2]
        found = cls(form, words, word_idf, grams, gram_idf, components, np.zeros(size))
        scores = found._project(terms)
        center = counts @ scores / max(counts.sum(), 1)
        found = cls(form, words, word_idf, grams, gram_idf, components, center)
        return found, found._look_up(scores, column)

    def encode(self, cells: Cells) -> Encoded:
        column = as_words(cells)
        scores = self._project(self._count(column.levels)) if column.levels else np.empty((0, len(self.center)))
        return self._look_up(scores, column)

    def _look_up(self, scores: Floats, column: Words) -> Encoded:
        missing = column.codes < 0
        codes = np.where(missing, len(scores), column.codes).astype(np.int32)  # the last row is for missing texts
        return Encoded([Piece(np.vstack([scores, self.center]), codes)], missing, np.zeros_like(missing))

    def _count(self, levels: list[str]) -> Any:
        blocks = []
        if self.form != "levels":
            blocks.append(_restore(_word_terms(vocabulary=self.words), self.word_idf).transform(levels))
        if self.form != "long":
            blocks.append(_restore(_gram_terms(vocabulary=self.grams), self.gram_idf).transform(levels))
        return _join(blocks)

    def _project(self, terms: Any) -> Floats:
        """Places of texts in the directions, at length 1: how long a text is does not matter."""
        scores = np.asarray(terms @ self.components.T)
        length = np.sqrt((scores**2).sum(axis=1, keepdims=True))
        return scores / np.where(length > 0, length, 1.0)

    def names(self, name: str) -> list[str]:
        return [f"{name} {j}" for j in range(len(self.center))]

    def describe(self) -> str:
        what = {
            "short": f"short text: tf-idf of {len(self.words)} words and {len(self.grams)} groups of characters",
            "long": f"long text: tf-idf of {len(self.words)} words",
            "levels": f"category of many levels, by their spelling ({len(self.grams)} groups of characters)",
        }[self.form]
        return f"{what}, in {len(self.center)} directions"

    def inverse(self, block: Floats) -> list[Any]:
        terms = self.words or self.grams
        weights = (block - self.center) @ self.components[:, : len(terms)]
        best = np.argsort(-weights, axis=1, kind="stable")[:, :_SHOWN]
        return [" ".join(terms[j] for j in row) for row in best]


@dataclass(frozen=True, eq=False)
class Spelling(Text):
    """A category of many levels: levels that are spelled alike are near each other."""

    kind: ClassVar[str] = "category"


def _word_terms(**options: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\b\w+\b", **options)


def _gram_terms(**options: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4), sublinear_tf=True, **options)


def _learn(vectorizer: Any, levels: list[str]) -> tuple[list[str], Array, Any]:
    """Terms, their weights and the texts as a sparse matrix."""
    try:
        matrix = vectorizer.fit_transform(levels)
    except ValueError:  # no term is frequent enough: take all
        try:
            vectorizer.set_params(min_df=1)
            matrix = vectorizer.fit_transform(levels)
        except ValueError:  # there is none at all
            from scipy.sparse import csr_matrix

            return [], np.empty(0), csr_matrix((len(levels), 0))
    return [str(term) for term in vectorizer.get_feature_names_out()], vectorizer.idf_, matrix


def _restore(vectorizer: Any, idf: Array) -> Any:
    vectorizer.idf_ = idf
    return vectorizer


def _join(blocks: list[Any]) -> Any:
    from scipy.sparse import hstack

    return blocks[0] if len(blocks) == 1 else hstack(blocks, format="csr")
