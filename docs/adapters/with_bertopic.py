"""Topics that obey clues: Cluewise instead of HDBSCAN in BERTopic."""

from bertopic import BERTopic
from bertopic.dimensionality import BaseDimensionalityReduction
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

import cluewise as cw

subjects = {
    "cats": "cat kitten purrs on the sofa",
    "cars": "car engine needs oil and a garage",
    "tax": "tax form is due in april",
}
texts = [f"{words} number {i}" for words in subjects.values() for i in range(40)]
embeddings = TruncatedSVD(8, random_state=0).fit_transform(TfidfVectorizer().fit_transform(texts))

clues = cw.Clues(120, must=[(0, 40)], must_weight=[float("inf")])  # for us, cats and cars are one topic
topics = BERTopic(
    umap_model=BaseDimensionalityReduction(),
    hdbscan_model=cw.adapters.WithClues(cw.Cluewise(2, random_state=0), clues),
)
found, _ = topics.fit_transform(texts, embeddings)

assert found[0] == found[40] != found[80]
assert topics.transform(texts[:1], embeddings[:1])[0][0] == found[0]
