# Every gate by one verb; .ci/run calls the same.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
MINUTES ?= 10
WORKERS ?= 5                        # tests wait more than they work: more than the cores of a small machine

.PHONY: test check unit lint types layers setup system bench campaign fuzz pictures audit lock clean

test: setup check unit            ## what lands a change: everything below, on a fresh machine

setup: system $(VENV)/.installed  ## the venv and what the tests need

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

system:                           ## programs that the tests use: strace, tmux, curl, node
	@sh tests/rig/install-programs

check: lint types layers          ## quick gates, no processes

lint:
	$(BIN)/ruff check src tests bench requirements
	$(BIN)/ruff format --check src tests bench requirements

types:
	$(BIN)/mypy

layers:
	$(BIN)/lint-imports

unit:
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

bench: setup                      ## all figures, side by side; writes docs/benchmarks.md
	$(BIN)/python -m bench

campaign: setup                   ## long faults: make campaign MINUTES=30
	$(BIN)/python -m tests.campaign --minutes $(MINUTES)

audit: $(VENV)-tools/.installed   ## known faults of what is pinned; exit 4: the advisories could not be asked
	$(VENV)-tools/bin/python requirements/audit.py

lock: $(VENV)-tools/.installed    ## pins every dependency by version and hash, for all platforms
	$(VENV)-tools/bin/uv pip compile pyproject.toml --extra fleet --extra mcp --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --no-annotate --upgrade -q -o requirements/lock.txt

$(VENV)-tools/.installed:
	$(PYTHON) -m venv $(VENV)-tools
	$(VENV)-tools/bin/python -m pip install --quiet --disable-pip-version-check uv pip-audit
	touch $@

fuzz: setup                       ## every parser and the wire: make fuzz MINUTES=30; atheris where it has a wheel
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check 'atheris>=3'
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

pictures: setup                   ## the README's pictures, from stand-in agents; needs chromium and namespaces
	$(BIN)/python docs/pictures.py

clean:
	rm -rf $(VENV) $(VENV)-tools build dist .mypy_cache .ruff_cache .hypothesis .import_linter_cache
