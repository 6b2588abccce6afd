"""``python experiments/reproduce``: run the experiments of the papers and write the report."""

import os
import sys
from pathlib import Path

# Before numpy is imported: cells run side by side, so each one has one thread.
for variable in ("CLUEWISE_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"
sys.path[0] = str(Path(__file__).resolve().parents[1])  # this folder is a package of its parent

from reproduce.app import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
