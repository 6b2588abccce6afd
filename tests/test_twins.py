"""Every public kernel has a plain twin of the same name and signature."""

import inspect
import pkgutil
from importlib import import_module

import pytest

import cluewise.kernels

MODULES = [name for _, name, _ in pkgutil.iter_modules(cluewise.kernels.__path__) if not name.startswith("_")]
COMPILED = [name for name in MODULES if not name.startswith("reference")]
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
    homes = [home for home in (f"reference_{module}", "reference") if home in MODULES]
    assert homes, f"kernels/{module}.py has no reference_{module}.py beside it"
    twins = [getattr(import_module(f"cluewise.kernels.{home}"), name, None) for home in homes]
    twin = next((t for t in twins if t is not None), None)
    assert twin is not None, f"{module}.{name} has no twin in {homes[0]}"
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
