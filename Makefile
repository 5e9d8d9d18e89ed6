# laptime: set up, demo, tests. Everything is installed into .venv; nothing else is touched.
PYTHON ?= python3
VENV   ?= .venv
TORCH  ?= torch==2.13.0
SECONDS ?= 3600

BIN   := $(VENV)/bin
STAMP := $(VENV)/.stamp
PIP   := $(BIN)/python -m pip --disable-pip-version-check -q
NATIVE := CMakeLists.txt $(wildcard native/*.cpp native/scan/* native/sweep/*)

.PHONY: demo test test-all lint bench fuzz docs setup clean

demo: $(STAMP)/demo
	@mkdir -p out
	$(BIN)/python examples/slow_loader.py out/slow_loader.pt.trace.json.gz
	$(BIN)/laptime explain out/slow_loader.pt.trace.json.gz
	@echo && echo "In one sentence (the page is out/slow_loader.html):"
	@$(BIN)/laptime explain out/slow_loader.pt.trace.json.gz --html out/slow_loader.html

test: $(STAMP)/test lint
	$(BIN)/python -m pytest -m "not slow and not alone" -n 2 --dist loadscope
	$(BIN)/python -m pytest -m "alone and not slow"

# The slow tests share nothing, so they are dealt out one by one.
test-all: test
	$(BIN)/python -m pytest -m "slow and not alone" -n 2 --dist worksteal
	$(BIN)/python -m pytest -m "slow and alone"
	$(MAKE) fuzz SECONDS=120

lint: $(STAMP)/test
	$(BIN)/ruff format --check -q .
	$(BIN)/ruff check -q .
	$(BIN)/mypy
	@layers=$$($(BIN)/lint-imports) || { echo "$$layers"; exit 1; }

bench: $(STAMP)/test
	$(BIN)/python -m benchmarks.ingest

fuzz: $(STAMP)/test
	PYTHON=$(abspath $(BIN)/python) bash native/fuzz/run.sh $(SECONDS)

docs: $(STAMP)/docs
	$(BIN)/mkdocs build --strict

setup: $(STAMP)/core

clean:
	rm -rf $(VENV) build dist site out .mypy_cache .ruff_cache .pytest_cache

$(STAMP)/venv:
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMP)
	$(PIP) install -U pip
	@touch $@

# The build runs in the venv itself, so that a rebuild after a change of native/ takes seconds.
$(STAMP)/core: $(STAMP)/venv pyproject.toml $(NATIVE)
	$(PIP) install 'scikit-build-core>=0.10' 'nanobind>=2.4' 'cmake>=3.18' ninja
	$(PIP) install --no-build-isolation -e .
	@touch $@

$(STAMP)/demo: $(STAMP)/core
	$(PIP) install $(TORCH)
	@touch $@

$(STAMP)/test: $(STAMP)/demo pyproject.toml
	$(PIP) install --no-build-isolation -e '.[test]'
	@touch $@

$(STAMP)/docs: $(STAMP)/core
	$(PIP) install --no-build-isolation -e '.[docs]'
	@touch $@
