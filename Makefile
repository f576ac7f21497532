# The project's own commands. Each sets up .venv when it must; `make test` is what .ci/run runs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DATA   ?= ../shared/data
TURNS  ?= 2000
KILLS  ?= 20
export HF_HUB_OFFLINE ?= 1

.PHONY: setup demo test coverage check format bench chaos gpu clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[kafka,models,bench,dev]'
	touch $@

demo: setup
	$(BIN)/python -m infra.demo

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Two processes: most tests wait for one core at a time, and the encoder's model is loaded in each.
test: check
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

# Which lines and branches of stages and streams no test reaches.
coverage: setup
	$(BIN)/python -m pytest --cov

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

chaos: setup
	KILLS=$(KILLS) $(BIN)/python -m pytest tests/contract/test_killed_runs.py --timeout 3000

bench: setup
	$(BIN)/anabranch bench locomo $(DATA)/locomo
	$(BIN)/anabranch bench beam $(DATA)/beam
	$(BIN)/anabranch bench irc $(DATA)/irc/dev.tar.gz
	$(BIN)/anabranch bench ingest $(DATA)/locomo --turns $(TURNS)

gpu: setup
	$(BIN)/python -c "import torch; assert torch.cuda.is_available(), 'no GPU that torch can use'"
	$(BIN)/anabranch bench ingest $(DATA)/locomo

clean:
	rm -rf $(VENV) .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
