# Each target makes .venv itself when it is missing or out of date. Nothing is needed but Python 3.11+, pip and make.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed

.PHONY: help install demo test soak quick check format bench pictures page clean

help:
	@echo "make demo     train a translator and see where it looks: two minutes"
	@echo "make test     every test"
	@echo "make soak     kill training runs 450 times at random moments: three quarters of an hour"
	@echo "make quick    the fast tests, some minutes"
	@echo "make check    lint, format, types, import direction, file map"
	@echo "make bench    the benchmarks, with ratios"
	@echo "make pictures  the pictures of the documents, from models that it trains where they are missing"
	@echo "make page     build the page from web/; needs Node, and is needed only when web/ is changed"
	@echo "make format   let ruff rewrite what it can"
	@echo "make clean    remove .venv and caches"

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "nungil needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || \
		{ echo "$(PYTHON) has no venv module. On Debian or Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Installing nungil and its tools into $(VENV); the first time this takes some minutes."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
		--constraint constraints.txt --editable '.[all,dev]'
	@touch $(INSTALLED)

demo: $(INSTALLED)
	@$(RUN) -m nungil demo --overwrite

test: $(INSTALLED)
	@$(RUN) -m pytest --numprocesses=auto --dist=worksteal

# Each of its six tests takes longer than any test of the suite may.
soak: $(INSTALLED)
	@$(RUN) -m pytest --numprocesses=auto --dist=worksteal -o faulthandler_timeout=7200 \
		tests/test_promises.py -k kill_at_random --kills=100,50

quick: $(INSTALLED)
	@$(RUN) -m pytest --numprocesses=auto --dist=worksteal -m "not slow" --hypothesis-profile=quick

check: $(INSTALLED)
	@$(RUN) -m ruff check
	@$(RUN) -m ruff format --check
	@$(RUN) -m mypy
	@$(RUN) -m pytest --quiet tests/test_house.py

format: $(INSTALLED)
	@$(RUN) -m ruff check --fix
	@$(RUN) -m ruff format

bench: $(INSTALLED)
	@$(RUN) benchmarks/attention.py
	@$(RUN) benchmarks/text.py --lines 100000,1000000

pictures: $(INSTALLED)
	@$(RUN) docs/pictures.py

page: web/node_modules/.package-lock.json
	@cd web && npm run --silent build

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	@cd web && npm ci --ignore-scripts --no-audit --no-fund --silent

clean:
	rm -rf web/node_modules $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
