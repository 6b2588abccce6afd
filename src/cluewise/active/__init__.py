"""Ask and tell: strategies that choose questions, and oracles that answer them."""

from cluewise.active._card import StrategyCard
from cluewise.active._dialog import Answer, Question
from cluewise.active._interview import Oracle, interview
from cluewise.active._list import strategies
from cluewise.active._oracles import FunctionOracle, SimulatedOracle
from cluewise.active._project import Project
from cluewise.active._state import State
from cluewise.active._stopping import settled
from cluewise.active._strategy import Strategy
from cluewise.active.strategies._boundary import BoundaryDBSCAN
from cluewise.active.strategies._committee import Committee
from cluewise.active.strategies._composite import CompositeQuestions
from cluewise.active.strategies._confirmed import Confirmed
from cluewise.active.strategies._dense import DenseSeeds
from cluewise.active.strategies._explore import ExploreConsolidate
from cluewise.active.strategies._information_gain import InformationGain
from cluewise.active.strategies._minmax import ExploreMinMax
from cluewise.active.strategies._pairs_at_stake import PairsAtStake
from cluewise.active.strategies._random import RandomPairs
from cluewise.active.strategies._super_instances import SuperInstances
from cluewise.active.strategies._uncertainty import NeighborhoodUncertainty

__all__ = [
    "Answer",
    "BoundaryDBSCAN",
    "Committee",
    "CompositeQuestions",
    "Confirmed",
    "DenseSeeds",
    "ExploreConsolidate",
    "ExploreMinMax",
    "FunctionOracle",
    "InformationGain",
    "NeighborhoodUncertainty",
    "Oracle",
    "PairsAtStake",
    "Project",
    "Question",
    "RandomPairs",
    "SimulatedOracle",
    "State",
    "Strategy",
    "StrategyCard",
    "SuperInstances",
    "interview",
    "settled",
    "strategies",
]
