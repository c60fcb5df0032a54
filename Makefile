# Six commands, for a laptop and for CI. Each first brings .venv up to date.
PYTHON ?= python3
IN = .venv/bin/python
# `MEDIA=no make run` leaves out what only the sandbox's narrated films need.
MEDIA ?= yes
RUN_LOCK = requirements$(if $(filter no,$(MEDIA)),,-media).lock
.DEFAULT_GOAL := help
# A command starts dozens of processes; without this each would compile all of Reelroom for itself.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help run check test bench drill fix packages packages-dev python

help:  ## list the commands
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' Makefile

run: packages  ## start everything on this machine; Ctrl-C stops it
	@$(IN) -m dashboard.up

check: packages-dev  ## style, types, names, imports, templates, code lengths, locks, licences, secrets
	@$(IN) -m tests.checks

test: packages-dev  ## every test on SQLite, then in a browser (CI=true: on PostgreSQL, too)
	@$(IN) -m tests

bench: packages-dev  ## measure polling, the sandbox, startup, pages, live streams and the gateway
	@$(IN) -m tests.bench

drill: packages-dev  ## run every fault, kill and outage in full, one line for each figure (over an hour)
	@$(IN) -m tests.drills

fix: packages-dev  ## format the code, fix what tools can fix, write generated documents
	@$(IN) -m ruff check --fix-only --quiet .
	@$(IN) -m ruff format --quiet .
	@find templates -name '*.html' -exec .venv/bin/djade --target-version 5.2 {} +
	@DJANGO_SETTINGS_MODULE=tests.settings $(IN) manage.py write_docs
	@$(IN) -m proxyapi.sandbox.document
	@$(IN) -m tests.checks.licences
	@$(IN) -m tests.checks.reached_operations
	@$(IN) -m tests.checks.assumptions
	@$(IN) -m tests.checks.gateway_document
	@$(IN) -m tests.checks.retention

packages: python
	@$(PYTHON) -m dashboard.up.install $(RUN_LOCK)

packages-dev: python
	@$(PYTHON) -m dashboard.up.install requirements-dev.lock

python:
	@command -v $(PYTHON) >/dev/null || { echo "reelroom: There is no $(PYTHON) on the PATH." >&2; exit 1; }
