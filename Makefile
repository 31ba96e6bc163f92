# `make demo`: set up, then a rated round robin of bots on Torus, with pictures.  `make test`: set up, then all checks.
# The set-up is a virtual environment in .venv; PYTHON chooses the interpreter (3.11 to 3.13).
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
BIN := .venv/bin
# A thread that spins while others work costs milliseconds a step on a busy machine.
export OMP_WAIT_POLICY ?= passive

.PHONY: help setup demo test lint types unit wheel bench clean

help:
	@echo "make demo   set up, then play a rated round robin on Torus (results/demo/)"
	@echo "make test   set up, then ruff, mypy --strict and pytest"
	@echo "make wheel  build wheel and sdist, and try both in empty environments"
	@echo "make bench  measure the games beside OpenSpiel, Pgx, PettingZoo, JAX and C++"
	@echo "make clean  remove .venv and build leftovers"

setup: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	@"$(PYTHON)" -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v <= (3, 13) else f"expected Python 3.11 to 3.13, got {v[0]}.{v[1]}; name one with: make PYTHON=python3.11")'
	"$(PYTHON)" -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: setup
	$(BIN)/cellgames round-robin torus-small-v0 --agents random rollout:16 rollout:64 amaf:64 greedy \
		--games 100 --seed 1 --out results/demo --fresh
	@echo
	@echo "Open results/demo/report.md and top_game.gif; then try: $(BIN)/cellgames play torus-small-v0 --agent amaf:64"

test: lint types unit

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

# A process a core, each on one thread.
unit: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile

wheel: setup
	$(BIN)/python tests/check_distributions.py

bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,peers]'
	$(BIN)/python -m benchmarks.random_play
	$(BIN)/python -m benchmarks.life
	$(BIN)/python -m benchmarks.cloth
	$(BIN)/python -m benchmarks.grid

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
