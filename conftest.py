"""Examples of modules that need torch or Triton are run where these are; kernels of Triton are interpreted."""

import os
from importlib.util import find_spec

os.environ.setdefault("TRITON_INTERPRET", "1")  # Triton looks when kernels are defined

collect_ignore_glob = [] if find_spec("torch") else ["src/cluewise/gpu/*", "src/cluewise/*/_on_device.py"]
collect_ignore_glob += [] if find_spec("triton") else ["src/cluewise/gpu/_triton.py"]
