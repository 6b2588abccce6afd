"""Ask and tell: strategies that choose questions, and oracles that answer them."""

from cluewise.active._act import Act
from cluewise.active._agreement import agreement
from cluewise.active._boundary import BoundaryDBSCAN
from cluewise.active._cluewise_questions import CluewiseQuestions
from cluewise.active._committee.committee import Committee
from cluewise.active._composite.composite import CompositeQuestions
from cluewise.active._confirmed import Confirmed
from cluewise.active._dense import DenseSeeds
from cluewise.active._dialog import Answer, Question
from cluewise.active._explore import ExploreConsolidate
from cluewise.active._group_questions.group_questions import GroupQuestions
from cluewise.active._information_gain.information_gain import InformationGain
from cluewise.active._interview import FunctionOracle, Oracle, SimulatedOracle, interview
from cluewise.active._language_model.batch import Batch, read_batch
from cluewise.active._language_model.model import LanguageModel
from cluewise.active._minmax import ExploreMinMax
from cluewise.active._pairs_at_stake.pairs_at_stake import PairsAtStake
from cluewise.active._person_last import PersonLast, Work
from cluewise.active._project import Project
from cluewise.active._random import RandomPairs
from cluewise.active._reliability import Reliability, Source, reliability
from cluewise.active._state import State
from cluewise.active._stopping import settled
from cluewise.active._strategy import Strategy, StrategyCard
from cluewise.active._super_instances import SuperInstances
from cluewise.active._uncertainty import NeighborhoodUncertainty

__all__ = [
    "Act",
    "Answer",
    "Batch",
    "BoundaryDBSCAN",
    "CluewiseQuestions",
    "Committee",
    "CompositeQuestions",
    "Confirmed",
    "DenseSeeds",
    "ExploreConsolidate",
    "ExploreMinMax",
    "FunctionOracle",
    "GroupQuestions",
    "InformationGain",
    "LanguageModel",
    "NeighborhoodUncertainty",
    "Oracle",
    "PairsAtStake",
    "PersonLast",
    "Project",
    "Question",
    "RandomPairs",
    "Reliability",
    "SimulatedOracle",
    "Source",
    "State",
    "Strategy",
    "StrategyCard",
    "SuperInstances",
    "Work",
    "agreement",
    "interview",
    "read_batch",
    "reliability",
    "settled",
    "strategies",
]


def strategies() -> tuple[type[Strategy], ...]:
    """The strategies of the library, by name; without `Confirmed`, which needs another strategy.

    Returns
    -------
    tuple of type
        Classes; each has a ``card`` that says what it asks.

    Examples
    --------
    >>> from cluewise.active import strategies
    >>> [strategy.__name__ for strategy in strategies() if strategy.card.asks == {"pair"}]
    ['CluewiseQuestions', 'InformationGain', 'PairsAtStake', 'RandomPairs', 'SuperInstances']
    """
    public = [globals()[name] for name in __all__]
    found = [one for one in public if isinstance(one, type) and issubclass(one, Strategy)]
    return tuple(one for one in found if one not in (Strategy, Confirmed))
