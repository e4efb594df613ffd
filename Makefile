# Every target sets up what it needs in .venv; `make clean` removes it.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready

.PHONY: demo test lint docs examples nightly mutants bench clean

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[test,examples,docs]"
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/python examples/speaker_from_speech.py

test: $(STAMP)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal --max-worker-restart 0 --quiet

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(STAMP)
	$(BIN)/mkdocs build --strict --quiet

examples: $(STAMP)
	$(BIN)/python examples/speaker_from_speech.py --fast
	$(BIN)/python examples/speaker_gru.py --fast
	$(BIN)/python examples/nnet3_vowels.py --fast
	$(BIN)/python examples/graph_network.py --fast
	$(BIN)/python examples/state_space.py --fast
	$(BIN)/python examples/point_cloud.py --fast
	$(BIN)/python examples/char_transformer.py --fast
	$(BIN)/python examples/transformer_equinox.py --fast
	$(BIN)/python examples/transformer_flax.py --fast

nightly: $(STAMP)
	$(BIN)/python -m tests.nightly $(PART)

mutants: $(STAMP)
	$(BIN)/python tools/mutants.py

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	$(BIN)/python -m benchmarks.run

clean:
	rm -rf .venv .cache site .mypy_cache .ruff_cache .pytest_cache .hypothesis
