# `make help` lists the targets. Nothing here runs in parallel: the builds are heavy and share one target folder.
.NOTPARALLEL:
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# Where cargo puts what it builds.
TARGET := $(or $(CARGO_TARGET_DIR),target)
# Arguments of `make run`, such as ARGS="--once --approve".
ARGS ?=
# Of `make accept-instructions`: what is worth it that something grew.
WHY ?=

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' Makefile

.PHONY: run
run: ## Build and run the demonstration; ARGS="--once --approve" works through it without a person
	@echo "Building; the first time takes some minutes." >&2
	@cargo run -p aldgate -- demo $(ARGS)

.PHONY: test
test: test-setup ## Set up what the tests need, and run them all: Rust, real clients, the official conformance suite, the checklist
	@cargo test --workspace
	@$(MAKE) --no-print-directory conformance
	@scripts/step.sh "the requirements of the protocol and their tests" scripts/checklist.py

.PHONY: test-setup
test-setup:
	@scripts/setup-tests.sh

.PHONY: check
check: check-format check-documents check-lints check-rustdoc check-generated check-readme check-lengths check-instructions ## Everything but the tests: format, lints, documents, generated files, the README's commands, instruction counts

.PHONY: check-format
check-format:
	@scripts/step.sh "format" cargo fmt --all --check
	@scripts/step.sh "format of the fuzz targets" cargo fmt --manifest-path fuzz/Cargo.toml --check

.PHONY: check-documents
check-documents:
	@scripts/step.sh "error codes and docs/errors.md" scripts/check_errors.py
	@scripts/step.sh "links between documents" scripts/check_links.py
	@scripts/step.sh "no paths of one machine" scripts/check_paths.py
	@scripts/step.sh "the rules of the checklist" scripts/checklist.py --self-test

.PHONY: check-lints
check-lints:
	@scripts/step.sh "clippy" cargo clippy --workspace --all-targets -- -D warnings

.PHONY: check-rustdoc
# The pages are for whoever works on the code, so private items are in them and may be linked to.
check-rustdoc: export RUSTDOCFLAGS := -D warnings -A rustdoc::private-intra-doc-links
check-rustdoc:
	@scripts/step.sh "rustdoc" cargo doc --workspace --no-deps --document-private-items

.PHONY: check-generated
check-generated: binary
	@scripts/step.sh "docs/configuration.md is what the configuration types say" \
		diff -u docs/configuration.md <($(TARGET)/debug/aldgate config docs)

.PHONY: check-readme
check-readme: binary test-setup
	@scripts/step.sh "the README's commands" scripts/run_readme.py --binaries $(TARGET)/debug README.md

.PHONY: check-lengths
check-lengths:
	@scripts/check_lengths.py

.PHONY: check-instructions
check-instructions:
	@scripts/setup-instructions.sh $(TARGET)/tools
	@scripts/step.sh "instructions of the hot path" scripts/bench/instructions.py check --tools $(TARGET)/tools

.PHONY: accept-instructions
accept-instructions: ## Keep the instruction counts of now; WHY="…" says what is worth it that one grew
	@scripts/setup-instructions.sh $(TARGET)/tools
	@scripts/bench/instructions.py accept --tools $(TARGET)/tools --why "$(WHY)"

.PHONY: binary
# With the features that the tests build it with, so that nothing is built twice.
binary:
	@scripts/step.sh "the binary" cargo build --workspace --bin aldgate

.PHONY: generate
generate: binary ## Write the generated documents anew
	@$(TARGET)/debug/aldgate config docs > docs/configuration.md

.PHONY: eval
eval: ## Search quality of the field-service system on its labelled questions
	@cargo test -p aldgate-field-service --test it eval:: -- --nocapture

.PHONY: soak
soak: ## Fuzz what reads peers' bytes, SOAK_SECONDS=60 for each target
	@scripts/soak.sh

.PHONY: mutants
mutants: ## Change the code of contracts in small ways; a change that no test notices fails (scripts/mutants-accepted.txt)
	@scripts/mutants.sh

.PHONY: bench
bench: bench-programs ## Aldgate beside nginx, a bare pass-through and a rival, contracts and sign-ins (docs/performance.md); writes target/bench/report.json
	@scripts/bench/run.py --binaries $(TARGET)/release --counting $(TARGET)/bench/counting --tools $(TARGET)/tools \
		--report $(TARGET)/bench/report.json
	@scripts/bench/listens.py --binary $(TARGET)/release/aldgate

# The programs that count allocations are copied away before the others take their places.
.PHONY: bench-programs
bench-programs: BENCHED := -p aldgate -p aldgate-testkit --bin aldgate \
	--example echo_upstream --example pass_through --example load
bench-programs:
	@scripts/setup-bench.sh
	@scripts/setup-instructions.sh $(TARGET)/tools
	@cargo build --release $(BENCHED) --features aldgate/count-allocations,aldgate-testkit/count-allocations
	@mkdir -p $(TARGET)/bench/counting/examples
	@cp $(TARGET)/release/aldgate $(TARGET)/bench/counting/
	@cp $(addprefix $(TARGET)/release/examples/,echo_upstream pass_through load) $(TARGET)/bench/counting/examples/
	@cargo build --release $(BENCHED) -p aldgate-benches -p aldgate-identity --example contracts --example token_checking

.PHONY: profile
profile: bench-programs ## Where the CPU time of a governed call goes, by step of the journey, beside the budget (perf)
	@scripts/bench/journey_profile.py --binaries $(TARGET)/release

.PHONY: conformance
conformance: ## The official conformance suite: testkit's everything-server, alone and behind the gateway; the gateway as client; its authorization server
	@scripts/step.sh "the programs that the conformance suite needs" cargo build --workspace --bins --examples
	@scripts/conformance/run.py --binaries $(TARGET)/debug --direct
	@scripts/conformance/run.py --binaries $(TARGET)/debug
	@scripts/conformance/run.py --binaries $(TARGET)/debug --client
	@scripts/conformance/run.py --binaries $(TARGET)/debug --authorization

.PHONY: checklist
checklist: ## Each requirement of the protocol and the tests that show it: docs/conformance.md against the tests
	@scripts/checklist.py

.PHONY: fmt
fmt: ## Format the Rust code
	@cargo fmt --all
	@cargo fmt --manifest-path fuzz/Cargo.toml

.PHONY: audit
audit: ## Licences, bans and sources of the dependencies
	@command -v cargo-deny > /dev/null || { echo "Installing cargo-deny; this takes some minutes."; cargo install --locked cargo-deny; }
	@cargo deny --locked check licenses bans sources

.PHONY: clean
clean: ## Remove what was built and set up
	@cargo clean
	@rm -rf clients/typescript/node_modules clients/issuer/node_modules clients/browser/node_modules scripts/conformance/node_modules .venv .collector
