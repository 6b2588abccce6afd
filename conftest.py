"""Examples of modules that need torch are run where it is installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["src/cluewise/gpu/*", "src/cluewise/*/_on_device.py"]
