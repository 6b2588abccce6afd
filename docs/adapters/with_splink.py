"""Groups without false bridges from the scores of Splink."""

import pandas as pd
import splink.comparison_library as cl
from splink import DuckDBAPI, Linker, SettingsCreator, block_on

import cluewise as cw

people = cw.datasets.make_entities(1000, random_state=0)  # made records of three sources, and who is who
records = pd.DataFrame(people.columns).replace("", None).assign(unique_id=range(1000))

settings = SettingsCreator(
    link_type="dedupe_only",
    comparisons=[cl.JaroWinklerAtThresholds(name) for name in ("first", "last", "street")]
    + [cl.ExactMatch(name) for name in ("born", "town", "phone")],
    blocking_rules_to_generate_predictions=[block_on("phone"), block_on("born"), block_on("last")],
)
linker = Linker(DuckDBAPI().register(records), settings)
linker.training.estimate_probability_two_random_records_match([block_on("phone", "born")], recall=0.7)
linker.training.estimate_u_using_random_sampling(max_pairs=100_000)
linker.training.estimate_parameters_using_expectation_maximisation(block_on("born"))
linker.training.estimate_parameters_using_expectation_maximisation(block_on("last"))
scored = linker.inference.predict()

pairs = scored.as_pandas_dataframe()
clues = cw.adapters.splink_clues(pairs, range(1000)) | cw.Clues(1000, apart=people.source, apart_weight=float("inf"))
found = cw.CorrelationClusterer().fit(None, clues=clues).labels_

# Connected components, which Splink finds itself, at its usual threshold.
usual = linker.clustering.cluster_pairwise_predictions_at_threshold(scored, 0.9).as_pandas_dataframe()
usual = usual.sort_values("unique_id")["cluster_id"]
assert cw.metrics.ari(people.truth, found) > 0.9
assert cw.metrics.ari(people.truth, usual) < 0.7
