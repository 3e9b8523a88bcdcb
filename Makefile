# make demo   set up and run the main job: the example agents under pytest --caesar-agent
# make test   set up and pass the tests
# make test-fast  what a change of the pure core needs: documents, recovery, statistics
# make test-sandbox  the tests of hostile agents once more, each agent in bubblewrap
# make test-failed  what failed the last time once more, alone
# make check  lint, types and import contracts
# make coverage  the tests once more, with branch coverage of packages and their processes
# make bench  the figures of docs/benchmarks.md, as ratios taken side by side
# make docs   the documentation site with its reference, in build/site, in an environment of its own

# make clis   install the real CLIs at their checked versions (some 1.1 GB), and test with them

VENV  ?= .venv
READY := $(VENV)/.ready
BIN   := $(VENV)/bin
export PIP_USER := 0
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: setup demo test test-fast test-sandbox test-failed check coverage bench docs clis clean

setup: $(READY)

# The stamp is written last, so an interrupted set-up is done again.
$(READY): pyproject.toml
	@rm -f $(READY)
	@python=$${PYTHON:-}; \
	for name in $$python python3 python3.13 python3.12 python3.11 python3.10 python; do \
	  if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1; then found=$$name; break; fi; \
	done; \
	if [ -z "$$found" ]; then echo "make: no Python of at least 3.10 was found on PATH: install one, or name it with PYTHON=/path/to/python make …" >&2; exit 1; fi; \
	if ! "$$found" -c 'import venv, ensurepip' >/dev/null 2>&1; then echo "make: $$found has no venv module: install it (Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; fi; \
	rm -rf $(VENV) && "$$found" -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $(READY)

demo: setup
	@$(BIN)/python examples/demo.py

# More workers than cores: many tests wait for a process to end.
WORKERS ?= auto
test: setup
	@rm -f $(VENV)/.pytest-exit
	$(BIN)/python -m pytest -n $(WORKERS) || { code=$$?; echo $$code >$(VENV)/.pytest-exit; exit $$code; }

FAST := tests/caesar_agent/documents tests/caesar_agent/events \
  tests/pytest_caesar/recovery tests/pytest_caesar/runs tests/pytest_caesar/settings \
  tests/pytest_caesar/trials/test_statistics.py
SLOW := tests/caesar_agent/documents/test_agreement.py \
  tests/pytest_caesar/recovery/test_matrix.py tests/pytest_caesar/recovery/test_linearity.py
test-fast: setup
	$(BIN)/python -m pytest -q -n $(WORKERS) $(FAST) $(addprefix --ignore=,$(SLOW))

ORCHESTRATOR := tests/pytest_caesar/orchestrator
HOSTILE := tests/pytest_caesar/supervision $(ORCHESTRATOR)/test_hostile_task_directory.py \
  $(ORCHESTRATOR)/test_delegation.py $(ORCHESTRATOR)/test_delegation_decisions.py \
  $(ORCHESTRATOR)/test_known_clis.py
test-sandbox: setup
	CAESAR_TEST_SANDBOX=bubblewrap $(BIN)/python -m pytest -q -n $(WORKERS) $(HOSTILE)

test-failed: setup
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures=none

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# coverage starts before pytest, so that the plugin module itself is measured.
coverage: setup
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n $(WORKERS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

bench: setup
	$(BIN)/python -m benchmarks

# An environment of its own: nothing of the package is imported, its source is read.
DOCS := .venv-docs
docs: $(DOCS)/.ready
	PATH="$(CURDIR)/$(DOCS)/bin:$$PATH" NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict
	@echo "make: the documentation is in build/site/index.html"

$(DOCS)/.ready: pyproject.toml | setup
	@rm -rf $(DOCS) && $(BIN)/python -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet ".[docs]"
	@touch $@

# The suite skips what is absent; here everything is there.
CLIS := .clis
clis: setup
	@echo "make: installing codex, opencode, Gemini CLI and Copilot CLI into $(CLIS), some 1.1 GB"
	@command -v npm >/dev/null || { echo "make: npm is needed for that: install Node.js 20 or later" >&2; exit 1; }
	@mkdir -p $(CLIS)
	npm install --prefix $(CLIS) --no-audit --no-fund --loglevel=error $$($(BIN)/python -m tests.clis.programs)
	@$(BIN)/python -m tests.clis.programs --versions
	$(BIN)/python -m pytest tests/clis

clean:
	rm -rf $(VENV) $(DOCS) build dist
