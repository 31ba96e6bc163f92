# `make demo`: train a bot on Cloth of Gold and rate it among others, with pictures.  `make test`: the checks.
# The set-up is a virtual environment in .venv; PYTHON chooses the interpreter (3.11 to 3.13).
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
BIN := .venv/bin
# A thread that spins while others work costs milliseconds a step on a busy machine.
export OMP_WAIT_POLICY ?= passive
# Without bytecode on disk every command compiles torch and its other modules anew, five seconds of them.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help setup demo test lint types unit slow quick durations fuzz sanitize proofs wheel docs bench limit gpu strength bots study clean

help:
	@echo "make demo   set up what it needs, then train a bot on Cloth of Gold and rate it among others (results/demo/)"
	@echo "make test   set up, then ruff, mypy --strict and pytest, but for the tests of make slow"
	@echo "make slow   set up, then the tests that take long: tutorials, learning, every game"
	@echo "make quick  set up, then the tests that find most mistakes, in about 90 seconds"
	@echo "make fuzz   give readers, adapters and the server 100,000 hostile inputs"
	@echo "make proofs  check the shipped proofs of who wins, in plain Python (about a minute)"
	@echo "make wheel  build wheel and sdist into dist/, and try both in empty environments"
	@echo "make sanitize  test the native kernels under AddressSanitizer and UBSan"
	@echo "make docs   build the documentation into site/"
	@echo "make bench  measure games and learning beside OpenSpiel, Pgx, EnvPool, PettingZoo, SuperSuit and C++"
	@echo "make limit  measure the native kernels beside hand-written C++ (results/benchmarks/limit.md)"
	@echo "make gpu    test and measure everything on a GPU, in ten minutes (results/benchmarks/gpu.md); DEVICE=cpu tries it"
	@echo "make strength  let the shipped agents play a thousand games against each of the others"
	@echo "make bots   let bots in C and JavaScript, greedy and trained play with clocks (results/bots/)"
	@echo "make study  what should Torus be opened with? (results/studies/)"
	@echo "make clean  remove .venv and build leftovers"

# uv installs faster than pip, where it is found. Neither gets torch with CUDA for the demo: that has several gigabytes.
UV := $(shell command -v uv)
ENVIRONMENT = $(if $(UV),"$(UV)" venv --quiet --allow-existing --python "$(PYTHON)" .venv,"$(PYTHON)" -m venv .venv)
INSTALL = $(if $(UV),"$(UV)" pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet --disable-pip-version-check) -c constraints.txt
PARTS := pyproject.toml constraints.txt setup.py $(wildcard envs/native/sources/*)
CPU_TORCH := https://download.pytorch.org/whl/cpu
# Places that pip was told of come before that index.
LIGHT = $(if $(UV),,--no-compile $(if $(filter Linux,$(shell uname)),$(if $(PIP_FIND_LINKS)$(PIP_EXTRA_INDEX_URL),,--extra-index-url $(CPU_TORCH))))

setup: .venv/installed

.venv/bin/python:
	@"$(PYTHON)" -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v <= (3, 13) else f"expected Python 3.11 to 3.13, got {v[0]}.{v[1]}; name one with: make PYTHON=python3.11")'
	$(ENVIRONMENT)

.venv/installed: $(PARTS) | .venv/bin/python
	rm -f envs/native/_library*
	$(INSTALL) -e '.[dev]'
	@touch $@ .venv/light

# What the demo needs; the native kernels are for this processor alone, since compiling for all takes a minute longer.
.venv/light: $(PARTS) | .venv/bin/python
	CXXFLAGS="-DCELLGAMES_ONE_TARGET $(if $(filter x86_64,$(shell uname -m)),-march=native)" UV_TORCH_BACKEND=cpu $(INSTALL) $(LIGHT) -e '.[render,train]'
	@touch $@

# About half a minute of learning, from random weights.
demo: .venv/light
	$(BIN)/cellgames train cloth-of-gold-small-v0 --total-steps 5000 --eval-games 10 --threads 1 --seed 1 \
		--out results/train/demo --no-resume
	$(BIN)/cellgames round-robin cloth-of-gold-small-v0 --games 10 --opening-plies 0 --seed 1 --out results/demo --no-resume \
		--agents greedy trained demo=results/train/demo/agent.safetensors
	@echo
	@echo "Open results/demo/report.md, top_game.gif, and results/train/demo/curve.png; then try:"
	@echo "  $(BIN)/cellgames play cloth-of-gold-small-v0 --agents results/train/demo/agent.safetensors"

test: lint types unit

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

# A process a core and one more (tests/conftest.py), each on one thread.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile

unit: setup
	$(PYTEST) -m "not slow"

# What takes long. A short version of each is in `unit`.
slow: setup
	$(PYTEST) -m slow

# New tests and the shortest others: what to run while working.
quick: setup
	$(PYTEST) --quick -m "not slow"

# The seconds of each test, by which `unit` and `slow` order and `quick` chooses them.
durations: setup
	$(PYTEST) --record-durations tests/durations.json

# The native kernels with the checks of AddressSanitizer and UBSan, under their tests.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover -DCELLGAMES_SANITIZE
SANITIZED := build/sanitize/cellgames/envs/native/_library.abi3.so
sanitize: setup
	CFLAGS="$(SANITIZE)" CXXFLAGS="$(SANITIZE)" LDFLAGS="-fsanitize=address,undefined" \
		$(BIN)/python setup.py --quiet build_ext --force --build-lib build/sanitize --build-temp build/sanitize-objects
	LD_PRELOAD="$$(cc -print-file-name=libasan.so) $$(cc -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 CELLGAMES_NATIVE=$(SANITIZED) \
		OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q tests/agents/test_torus_native.py tests/envs/core/test_native_games.py tests/agents/test_connection_agents.py tests/agents/test_cloth_of_gold_agents.py tests/agents/test_convolutions.py

# Hostile inputs, from another seed each time; `make fuzz SEED=N` repeats those of a seed.
INPUTS ?= 100000
fuzz: setup
	FUZZ_INPUTS=$(INPUTS) OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/fuzz -n auto -q --hypothesis-seed=$(or $(SEED),$(shell date +%s))

proofs: setup
	for proof in results/proofs/*.proof; do $(BIN)/cellgames solve --verify "$$proof" || exit 1; done

wheel: setup
	$(BIN)/python tests/support/check_distributions.py dist

docs: setup
	$(BIN)/python docs/site_pages.py
	$(BIN)/python -m zensical build --strict
	@echo "To read it: $(BIN)/python -m http.server -d site"

bench: setup
	$(INSTALL) -e '.[dev,peers]'
	$(BIN)/python -m benchmarks.core.random_play
	$(BIN)/python -m benchmarks.core.cloth
	$(BIN)/python -m benchmarks.core.single_games
	$(BIN)/python -m benchmarks.limit
	$(BIN)/python -m benchmarks.training.learning
	$(BIN)/python -m benchmarks.agents.search
	$(BIN)/python -m benchmarks.arena.page_speed
	$(BIN)/python -m benchmarks.arena.bot_overhead
	$(BIN)/python -m benchmarks.training.scaling
	$(BIN)/python -m benchmarks.training.defaults

limit: setup
	$(BIN)/python -m benchmarks.limit

# Without network, so with the Python that is there. What fails is said on the page, beside all that does not.
DEVICE ?= cuda
gpu:
	PYTHONPATH=src $(or $(wildcard $(BIN)/python),$(PYTHON)) -m benchmarks.gpu --device $(DEVICE)

strength: setup
	$(BIN)/python -m benchmarks.agents.strength
	$(BIN)/python -m benchmarks.agents.truth

# A tournament of programs and agents; it needs cc and node.
bots: setup
	mkdir -p build/bots
	cc -O2 -o build/bots/bot examples/bots/bot.c
	$(BIN)/cellgames round-robin torus-small-v0 --games 100 --seed 1 --clock 30+0.2 --no-store --no-resume \
		--out results/bots --agents "c400=exec:build/bots/bot 400" "c40=exec:build/bots/bot 40" \
		"js=exec:node examples/bots/bot.js" greedy trained

study: setup
	$(BIN)/cellgames balance cloth-of-gold-small-v0 --vary order=alternate,drawn max_units=3,5 --agents greedy random \
		--games 100 --chunk 50 --against results/studies/balance/cloth_small

clean:
	rm -rf .venv build dist site *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
