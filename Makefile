# Two commands set everything up: `make demo` and `make test`. Both need python3 (3.11 or newer) and the package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := .demo
SPAMNB := $(BIN)/spamnb
CORPORA ?= corpora
SPEED_INDEX ?= $(CORPORA)/trec06p/index

.PHONY: demo test lint bench clean

demo: $(VENV)/installed
	@rm -rf $(DEMO)
	@echo '$$ spamnb train sample_mail/ham sample_mail/spam'
	@$(SPAMNB) train --model $(DEMO) sample_mail/ham sample_mail/spam
	@echo '$$ spamnb classify sample_mail/judge'
	@$(SPAMNB) classify --model $(DEMO) sample_mail/judge
	@echo '$$ spamnb evaluate sample_mail/judge/ham sample_mail/judge/spam'
	@$(SPAMNB) evaluate --model $(DEMO) sample_mail/judge/ham sample_mail/judge/spam
	@echo '$$ spamnb evaluate --threshold'
	@$(SPAMNB) evaluate --model $(DEMO) --threshold

test: lint
	$(BIN)/python -m pytest

lint: $(VENV)/tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# make bench CORPORA=folder, with one folder of mail and an index in TREC form for each corpus below it
bench: $(VENV)/tools
	$(BIN)/python bench/accuracy.py $(foreach index,$(wildcard $(CORPORA)/*/index),--index $(index)) $(BENCH)
	$(BIN)/python bench/speed.py --index $(SPEED_INDEX) $(BENCH_SPEED)

clean:
	rm -rf $(VENV) $(DEMO) .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info build

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "spamnb needs Python 3.11 or newer; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/tools: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@
