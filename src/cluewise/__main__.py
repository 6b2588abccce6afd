"""``python -m cluewise``."""

from cluewise.cli import main

main()
