"""Ask and tell: strategies that choose questions, and oracles that answer them."""

from cluewise.active._card import StrategyCard
from cluewise.active._dialog import Answer, Question
from cluewise.active._interview import Oracle, interview
from cluewise.active._list import strategies
from cluewise.active._oracles import FunctionOracle, SimulatedOracle
from cluewise.active._project import Project
from cluewise.active._random import RandomPairs
from cluewise.active._state import State
from cluewise.active._strategy import Strategy

__all__ = [
    "Answer",
    "FunctionOracle",
    "Oracle",
    "Project",
    "Question",
    "RandomPairs",
    "SimulatedOracle",
    "State",
    "Strategy",
    "StrategyCard",
    "interview",
    "strategies",
]
