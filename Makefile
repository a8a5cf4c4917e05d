# modelrig. Works with GNU make 3.81 or newer and any POSIX shell; needs python3 >= 3.11, and uses uv when it is on PATH.

PYTHON ?= python3
VENV ?= .venv
PY = $(VENV)/bin/python

.PHONY: help demo test test-all lint format docs docs-check check-clients bench lock clean

help:
	@echo 'make demo           build $(VENV), then deploy, query, measure, compare and delete a model on this machine'
	@echo 'make test           the whole test suite, offline once installed'
	@echo 'make test-all       the same with every row of its matrices (some minutes)'
	@echo 'make lint           ruff and mypy'
	@echo 'make docs           write the generated reference; make docs-check compares it'
	@echo 'make check-clients  the plugin with the real Claude Code, MCP Inspector, Gemini CLI and Codex, where installed'
	@echo 'make bench          speed and footprint'
	@echo 'make lock           resolve pyproject.toml again into the hashed requirements files (needs uv)'
	@echo 'make clean          remove $(VENV) and caches'

# One stamp a set of packages, so that a second run costs nothing. An interrupted one leaves no stamp and is repeated.
$(VENV)/made:
	$(PYTHON) -m tools.environment.make $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/made requirements.txt requirements-model.txt
	$(PYTHON) -m tools.environment.make $(VENV) requirements.txt requirements-model.txt
	@touch $@

$(VENV)/installed-dev: $(VENV)/made requirements-dev.txt requirements-model.txt requirements-actions.txt
	$(PYTHON) -m tools.environment.make $(VENV) requirements-dev.txt requirements-model.txt requirements-actions.txt
	@touch $@ $(VENV)/installed

demo: $(VENV)/installed
	$(PY) docs/demo.py

test: $(VENV)/installed-dev
	$(PY) -m pytest -n auto --dist worksteal

test-all: $(VENV)/installed-dev
	MODELRIG_ALL=1 $(PY) -m pytest -n auto --dist worksteal --timeout 300

lint: $(VENV)/installed-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(VENV)/installed-dev
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

docs: $(VENV)/installed-dev
	$(PY) docs/generate.py

docs-check: $(VENV)/installed-dev
	$(PY) docs/generate.py --check

check-clients: $(VENV)/installed-dev
	$(PY) tests/clients/check_clients.py

bench: $(VENV)/installed-dev
	@for each in benchmarks/*.py; do echo "== $$each"; $(PY) $$each || exit 1; done

# Hashes are those of the public files of every platform; no index, path or host is written. One resolution for all.
COMPILE = uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url \
	--no-emit-find-links --no-config
HASHED = $(COMPILE) --generate-hashes --constraint build/all.txt
lock:
	@mkdir -p build
	$(COMPILE) pyproject.toml --all-extras --output-file build/all.txt
	$(HASHED) pyproject.toml --output-file requirements-core.txt
	$(HASHED) pyproject.toml --extra local --extra measure --output-file requirements.txt
	@for extra in local measure ladder report aws gcp azure; do \
		echo "$(HASHED) pyproject.toml --extra $$extra --output-file requirements-$$extra.txt"; \
		$(HASHED) pyproject.toml --extra $$extra --output-file requirements-$$extra.txt || exit 1; done
	$(HASHED) pyproject.toml --all-extras --output-file requirements-dev.txt
	@for bare in model actions; do \
		$(PYTHON) -c 'import sys, tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["tool"]["modelrig"][sys.argv[1]])' \
			$$bare | $(COMPILE) --generate-hashes --no-deps - --output-file requirements-$$bare.txt || exit 1; done

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
