# The two commands of a newcomer: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow chromium lint format clean

demo: $(VENV)/.installed  ## embed handwritten digits and leave a picture, digits.png
	$(BIN)/sce demo

test: $(VENV)/.tests chromium lint  ## everything but what takes minutes
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist worksteal

test-slow: $(VENV)/.tests  ## what takes minutes
	$(BIN)/python -m pytest -m slow tests

# Tests of pages need a browser: Debian's, where there is none and we may install it. Without one they are skipped.
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	&& apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	|| echo "There is no Chromium; tests in the browser will be skipped."

lint: $(VENV)/.tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.tests
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) out digits.csv digits.map.npz digits.png
	find . -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 10), "sce needs Python 3.10 or newer; set PYTHON=..."'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.tests: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@
