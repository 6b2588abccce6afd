"""What all tests share: the data folder, the size of sweeps, reproducible examples."""

from __future__ import annotations

import os
import shutil
import signal
import socket
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# Before numpy and matplotlib are imported: no windows, and no threads inside BLAS or OpenMP, because the test
# processes themselves use all cores and spinning threads would slow each other down.
os.environ["MPLBACKEND"] = "Agg"
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

BESIDE = Path(__file__).resolve().parents[2] / "shared"

settings.register_profile(
    "dev", deadline=None, max_examples=25, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", parent=settings.get_profile("dev"), derandomize=True)
settings.load_profile("dev")

COUNT: Counter[tuple[str, str]] = Counter()  # for each mark below: how many tests ran, how many were skipped

# What tests may need, and how to know whether it is there. These are the only reasons to skip a test.
NEEDS = {
    "needs_data": (lambda: "CLUEWISE_DATA" in os.environ, "set CLUEWISE_DATA to a folder of data sets"),
    "needs_torch": (lambda: find_spec("torch") is not None, "install torch, a build for the processor is enough"),
    "needs_triton": (lambda: find_spec("triton") is not None, "install triton, which also interprets kernels"),
    "needs_chromium": (lambda: shutil.which(os.environ.get("CHROMIUM", "chromium")) is not None, "install chromium"),
}


def folder(variable: str, name: str) -> Path | None:
    """The folder that ``variable`` names, there or not; else ``name`` beside the checkout if it is there."""
    given = os.environ.get(variable)
    if given:
        return Path(given)
    return BESIDE / name if (BESIDE / name).is_dir() else None


def stay_on_this_machine() -> None:
    """Refuse connections to other machines: the tests pass without a network."""

    def local(connect: Callable[[socket.socket, Any], Any]) -> Callable[[socket.socket, Any], Any]:
        def checked(self: socket.socket, address: Any) -> Any:
            host = address[0] if isinstance(address, tuple) else "localhost"  # the others are paths of this machine
            if self.type == socket.SOCK_STREAM and host not in ("localhost", "::1") and not host.startswith("127."):
                raise ConnectionRefusedError(f"tests need no network, but one connects to {host}")
            return connect(self, address)

        return checked

    socket.socket.connect = local(socket.socket.connect)
    socket.socket.connect_ex = local(socket.socket.connect_ex)


def pytest_configure(config: pytest.Config) -> None:
    """Point the library at the data folder, if there is one, stay off the network, let no objective rise unseen."""
    # Here and not in pyproject.toml, where pytest would import cluewise before coverage is measured.
    config.addinivalue_line("filterwarnings", "error::cluewise.exceptions.NotDescending")
    stay_on_this_machine()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell that starts the tests in the background does that
        signal.signal(signal.SIGINT, signal.default_int_handler)
    data = folder("CLUEWISE_DATA", "data")
    if data is not None:
        os.environ["CLUEWISE_DATA"] = str(data)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that need something where it is missing, and nowhere else."""
    for item in items:
        if "spec_folder" in getattr(item, "fixturenames", ()):
            item.add_marker("needs_data")
        for mark, (is_there, remedy) in NEEDS.items():
            if item.get_closest_marker(mark) and not is_there():
                item.add_marker(pytest.mark.skip(reason=f"{mark}: {remedy}"))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count the tests that need something (this hook also sees the reports of pytest-xdist's processes)."""
    for mark in NEEDS:
        if mark in report.keywords and (report.when == "call" or report.skipped):
            COUNT[mark, "skipped" if report.skipped else "ran"] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail when a test was skipped for want of something that is there."""
    if any(is_there() and COUNT[mark, "skipped"] for mark, (is_there, _) in NEEDS.items()):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests needed data, torch or a browser, and whether they had it."""
    for mark, (is_there, _) in NEEDS.items():
        terminalreporter.write_line(f"{mark}: {COUNT[mark, 'ran']} ran, {COUNT[mark, 'skipped']} skipped")
        if is_there() and COUNT[mark, "skipped"]:
            terminalreporter.write_line(f"{mark}: it is there, so no test may be skipped", red=True)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of data sets (for tests marked needs_data)."""
    return Path(os.environ["CLUEWISE_DATA"])


@pytest.fixture(scope="session")
def spec_folder() -> Path:
    """The folder of specifications: CLUEWISE_SPEC, else beside the data (such tests count as needs_data)."""
    found = folder("CLUEWISE_SPEC", "spec") or Path(os.environ["CLUEWISE_DATA"]).parent / "spec"
    assert found.is_dir(), f"there is no folder of specifications at {found}; set CLUEWISE_SPEC"
    return found


@pytest.fixture(scope="session")
def sweep() -> Callable[[int, int], int]:
    """``sweep(small, full)``: how many cases to try, all of them with CLUEWISE_SLOW=1."""
    return lambda small, full: full if os.environ.get("CLUEWISE_SLOW") == "1" else small
