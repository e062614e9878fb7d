# Everything starts here; only python3 (3.11 to 3.13) has to be there. Another one: make PYTHON=python3.12 …
PYTHON ?= python3
VENV ?= .venv
PEERS ?= .venv-peers
CHILDREN ?= 2

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
CORE := $(VENV)/.installed-core
DEV := $(VENV)/.installed-dev
PEERED := $(PEERS)/.installed-peers

.DEFAULT_GOAL := help
.PHONY: help replay test lint example bench bench-peers mutate soak fuzz clean apt

help: ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22

replay: $(CORE) ## replay the bundled night and say where its page lies
	$(BIN)/paprika replay $(ARGS)

test: $(DEV) apt ## run every test of a change
	$(BIN)/python -m pytest -q $(ARGS)

lint: $(DEV) ## style, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

example: $(CORE) ## make the run under runs/examples anew
	rm -rf runs/examples/bundled-night
	$(BIN)/paprika run --seed 1 --agents wait fixed_timer rem_rule gentle_rule one_cue \
	    --wake-scale 0.5 1 2 4 --out runs/examples/bundled-night
	$(BIN)/paprika report runs/examples/bundled-night

bench: $(DEV) ## speed and memory, as ratios within one run
	$(BIN)/python -m benchmarks $(ARGS)

bench-peers: $(PEERED) ## the same beside timeflux, BrainFlow, mne-lsl and pyxdf
	$(PEERS)/bin/python -m benchmarks $(ARGS)

mutate: $(DEV) ## mutation tests of bedside/safety; survivors are listed
	$(BIN)/mutmut run --max-children $(CHILDREN)
	$(BIN)/mutmut results

soak: $(DEV) ## many whole nights, one after the other
	$(BIN)/python -m pytest -q -m soak --timeout=0 $(ARGS)

fuzz: $(DEV) ## new generated input for every parser; FUZZ_EXAMPLES=N for fewer
	$(BIN)/python -m pytest -q -m fuzz --timeout=0 --hypothesis-profile=fuzz $(ARGS)

clean: ## remove what was made here, the environments included
	rm -rf $(VENV) $(PEERS) build dist mutants *.egg-info .mypy_cache .ruff_cache

apt: apt.txt
	@missing=$$(sed 's/#.*//' apt.txt | tr -s ' \t' '\n' | sed '/^$$/d' | while read -r name; do \
	    dpkg-query -W -f '$${Status}' "$$name" 2>/dev/null | grep -q 'ok installed' || echo "$$name"; \
	done); \
	if [ -z "$$missing" ]; then exit 0; fi; \
	echo "Debian packages that tests need:" $$missing; \
	if [ "$$(id -u)" != 0 ]; then echo "install them: sudo apt-get install" $$missing; exit 1; fi; \
	apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "Paprika needs Python 3.11 or newer; here $(PYTHON) is older or missing. Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	    { rm -rf $(VENV); echo "python3 cannot make an environment. On Debian: apt-get install python3-venv"; exit 1; }

$(CORE): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing into $(VENV), once; about a minute."
	@$(PIP) install -q -c constraints.txt -e .
	@touch $@

$(DEV): pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing what tests need into $(VENV), once; about a minute."
	@$(PIP) install -q -c constraints.txt -e '.[dev]'
	@touch $@ $(CORE)

# Their own environment: timeflux holds numpy at an older version (docs/decisions/0002).
$(PEERED): pyproject.toml constraints-peers.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' || \
	    { echo "timeflux has no release for this Python; try: make PYTHON=python3.12 bench-peers"; exit 1; }
	@echo "Installing peers into $(PEERS), once; a few minutes."
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip --disable-pip-version-check install -q -c constraints-peers.txt -e '.[peers]'
	@touch $@
