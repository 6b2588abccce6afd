"""Every public kernel has a plain twin of the same name and signature, and the library works without a compiler."""

import inspect
import os
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import cluewise.kernels
import twins

COMPILED = [name for _, name, _ in pkgutil.iter_modules(cluewise.kernels.__path__) if not name.startswith("_")]
PLAIN = [name for _, name, _ in pkgutil.iter_modules(twins.__path__)]
KERNELS = [
    pytest.param(module, name, id=f"{module}.{name}")
    for module in COMPILED
    for name in import_module(f"cluewise.kernels.{module}").__all__
]


def plain(function):
    """The Python function inside a compiled one."""
    return getattr(function, "py_func", function)


def test_there_are_kernels():
    assert {"assignment", "graphs"} <= set(COMPILED)


@pytest.mark.parametrize(("module", "name"), KERNELS)
def test_twin(module, name):
    kernel = getattr(import_module(f"cluewise.kernels.{module}"), name)
    assert module in PLAIN, f"kernels/{module}.py has no tests/twins/{module}.py"
    twin = getattr(import_module(f"twins.{module}"), name, None)
    assert twin is not None, f"{module}.{name} has no twin in tests/twins/{module}.py"
    assert inspect.signature(plain(twin)) == inspect.signature(plain(kernel))
    assert not hasattr(twin, "py_func"), "the twin is compiled too"


@pytest.mark.parametrize(("module", "name"), KERNELS)
def test_kernels_take_no_defaults_and_say_what_they_do(module, name):
    kernel = plain(getattr(import_module(f"cluewise.kernels.{module}"), name))
    assert all(p.default is p.empty for p in inspect.signature(kernel).parameters.values())
    assert kernel.__doc__


def test_every_public_function_of_a_kernel_module_is_listed():
    """A kernel that is missing from ``__all__`` would escape the two tests above."""
    for module in COMPILED:
        home = import_module(f"cluewise.kernels.{module}")
        own = {
            name
            for name, value in vars(home).items()
            if callable(value) and getattr(value, "__module__", "") == home.__name__ and not name.startswith("_")
        }
        assert own == set(home.__all__), module


def test_the_library_works_without_compilation():
    """With NUMBA_DISABLE_JIT=1 kernels are Python functions; the labels are the same."""
    code = (
        "import numpy as np, cluewise as cw\n"
        "X = np.random.default_rng(0).normal(size=(30, 2)) + 4 * (np.arange(30) % 3)[:, None]\n"
        "clues = cw.Clues(30, must=[(0, 3), (1, 4)], cannot=[(0, 1), (1, 2)])\n"
        "for method in (cw.PCKMeans, cw.COPKMeans, cw.E2CP):\n"
        "    print(*method(3, random_state=0).fit(X, clues=clues).labels_)\n"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", code], env=os.environ | more, capture_output=True, text=True, check=True
        ).stdout
        for more in ({"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_DISABLE_JIT": "0"})
    ]
    assert printed[0].count("\n") == 3
    assert printed[0] == printed[1]
