"""``python -m cluewise.cli``."""

from cluewise.cli import main

main()
