# `make` alone lists what there is. Every target sets up what it needs in .venv and reuses it until
# pyproject.toml or constraints.txt change. PYTHON=python3.13 picks another Python for a new .venv.

PYTHON ?= python3
VENV ?= .venv
FLOORS = $(VENV)-floors
BIN = $(VENV)/bin
PROSE = README.md CONTRIBUTING.md CHANGELOG.md docs examples paper src tests
LAWS = tests/test_common.py tests/test_laws.py tests/test_cards.py

# Hundreds of processes start in a run; each of them would compile what it imports anew if it could not keep it.
export PYTHONDONTWRITEBYTECODE =

# At most four processes: each one imports scikit-learn, and the machine may have little memory. A process that has
# nothing left to do takes tests from another, so that none waits at the end.
PYTEST = $(BIN)/python -m pytest --hypothesis-profile=ci -q -n auto --maxprocesses 4 --dist worksteal
COVER = --cov=cluewise --cov-branch --cov-report=

.DEFAULT_GOAL = help
.PHONY: help demo cluster-demo web page test check test-nojit test-floors laws bench gate-speed gate-quality dist environments places surface adapters reproduce reproduce-quick docs docs-lite constraints clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name words; do \
		printf '  make %-16s %s\n' "$$name" "$$words"; done

demo: $(VENV)/.ready-demo ## set everything up and show a real result
	@$(BIN)/cluewise demo

cluster-demo: $(VENV)/.ready-test ## cluster ten million rows on two workers, and kill one of them; ARGS="--rows 1e5" for fewer
	@$(BIN)/python tools/cluster_demo.py $(ARGS)

web: page ## build the page and answer questions about wines on it, or about DATA=rows.csv
	@mkdir -p demo
	@test -n "$(DATA)" -o -f demo/wine.csv || $(BIN)/cluewise datasets wine --out demo/wine.csv
	@$(BIN)/cluewise web $(or $(DATA),demo/wine.csv --ignore class) $(ARGS)

page: $(VENV)/.ready-web ## build the page of `cluewise web`, if it has changed
	@$(BIN)/python tools/page.py

test: check page ## set everything up, then check, test and measure coverage
	@rm -f .coverage .coverage.*
	@echo "cluewise: tests, compiled"
	@COVERAGE_FILE=.coverage.compiled $(PYTEST) $(COVER)
	@echo "cluewise: kernels once more as plain Python, so that coverage sees inside them"
	@NUMBA_DISABLE_JIT=1 COVERAGE_FILE=.coverage.plain $(PYTEST) $(COVER) tests/kernels
	@$(BIN)/coverage combine -q .coverage.compiled .coverage.plain
	@$(BIN)/coverage report --skip-covered --fail-under=98

check: $(VENV)/.ready-test ## lint, format, types, layers, spelling
	@echo "cluewise: lint, format, types, layers, spelling"
	@$(BIN)/ruff check -q .
	@$(BIN)/ruff format -q --check . || { echo "Run $(BIN)/ruff format to put this right."; exit 1; }
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo --no-cache
	@$(BIN)/codespell $(PROSE)
	@$(BIN)/python tools/words.py

test-nojit: $(VENV)/.ready-test ## the kernels and their twins as plain Python
	@NUMBA_DISABLE_JIT=1 $(PYTEST) tests/kernels

test-floors: $(FLOORS)/.ready-test ## all tests with the oldest dependencies allowed
	@$(FLOORS)/bin/python tools/page.py
	@$(FLOORS)/bin/python -m pytest --hypothesis-profile=ci -q -n auto --maxprocesses 4

laws: $(VENV)/.ready-test ## the laws for one clusterer: make laws NAME=PCKMeans
	@test -n "$(NAME)" || { echo "Say which clusterer: make laws NAME=PCKMeans"; exit 2; }
	@$(PYTEST) $(LAWS) -k "$(NAME)"

bench: $(VENV)/.ready-test ## speed and memory as ratios to an anchor in the same run, added to benchmarks/history.json
	@$(BIN)/python benchmarks/run.py $(ARGS)

gate-speed: $(VENV)/.ready-test ## is the working tree slower than a commit? make gate-speed BASE=main
	@$(BIN)/python benchmarks/gate_speed.py $(or $(BASE),HEAD) $(ARGS)

gate-quality: $(VENV)/.ready-test ## does Cluewise find as good clusters as benchmarks/quality.json says?
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/gate_quality.py $(ARGS)

dist: $(VENV)/.ready-test ## wheel and source archive in dist/, built twice, checked and tried in a fresh environment
	@$(BIN)/python tools/dist.py

environments: $(VENV)/.ready-test ## the wheel in fresh environments: each Python here × oldest and newest dependencies
	@$(BIN)/python tools/environments.py $(ARGS)

places: $(VENV)/.ready-test ## the demo of the wheel where little is allowed: no compiler, read-only home, 1 GiB, ...
	@$(BIN)/python tools/places.py

surface: $(VENV)/.ready-test ## write docs/surface.txt: all public names and their parameters
	@$(BIN)/python tools/surface.py

adapters: $(VENV)/.ready-test ## the guide's scripts for other programs, each in an environment of its own
	@$(BIN)/python tools/adapters.py $(ARGS)

reproduce: $(VENV)/.ready-test ## the papers' tables and figures beside ours, in experiments/report (hours; goes on where it was)
	@$(BIN)/python experiments/reproduce --jobs 2 $(ARGS)

reproduce-quick: $(VENV)/.ready-test ## the same on a scale of minutes
	@$(BIN)/python experiments/reproduce --jobs 2 --quick $(ARGS)

docs: $(VENV)/.ready-docs ## the documentation, in docs/_build/html
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "cluewise: open docs/_build/html/index.html"

docs-lite: $(VENV)/.ready-lite ## the documentation with a page to try cluewise in the browser
	@$(BIN)/sphinx-build -q -W --keep-going -t lite -b html docs docs/_build/html
	@$(BIN)/python tools/lite.py

constraints: $(VENV)/.ready-test ## renew constraints.txt (newest versions, no addresses)
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --upgrade \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links \
		--extra dev --extra demo --extra postgres --extra lite \
		pyproject.toml --output-file constraints.txt

clean: ## remove everything that make made
	rm -rf $(VENV) $(FLOORS) .venv-adapters frontend/node_modules src/cluewise/web/static docs/_build docs/auto_examples docs/api build dist demo htmlcov
	rm -rf .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache .coverage .coverage.*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.ready-%: pyproject.toml constraints.txt tools/setup.sh
	@PYTHON="$(PYTHON)" sh tools/setup.sh $(VENV) $*
	@touch $@

$(FLOORS)/.ready-%: pyproject.toml tools/setup.sh
	@PYTHON="$(PYTHON)" sh tools/setup.sh $(FLOORS) $* floors
	@touch $@
