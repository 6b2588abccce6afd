"""What the tests of the experiments share."""

from __future__ import annotations

import pytest
from reproduce import published


@pytest.fixture
def spec(spec_folder, monkeypatch):
    """Printed numbers from the folder of the specification."""
    monkeypatch.setenv("CLUEWISE_SPEC", str(spec_folder))
    published.printed.cache_clear()
    yield
    published.printed.cache_clear()
