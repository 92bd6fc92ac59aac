# make demo   sets everything up and fills a sentence
# make test   sets everything up and runs the tests; names those whose data are missing
# Both need Go and a C compiler. ONNX Runtime comes by npm, or by pip without it.

GO       ?= go
BIN      := bin/infill
VERSION  := $(shell git describe --tags --always --dirty --abbrev=12 2>/dev/null || echo unknown)
LINT     := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME ?= 10s
SENTENCE ?= The old [MASK] sat down and closed his [MASK] for a [MASK].

# The model runs through a C library.
export CGO_ENABLED := 1

.PHONY: all demo test test-all test-docs test-page test-spark test-beam test-lab test-wheel wheel release module test-release beam lab setup build race race-short lint fuzz bench bench-torch verification experiments facility-plans clean help

all: build

# make help   prints this list
help:
	@sed -n -e 's/^# \(make .*\)/\1/p' -e 's/^#\(    .*\)/ \1/p' Makefile

# make build  builds bin/infill
build:
	@echo "== building $(BIN) (the first build compiles all dependencies: a minute or two)"
	$(GO) build -ldflags "-X main.buildVersion=$(VERSION)" -o $(BIN) ./cmd/infill

# make setup  builds it, and installs ONNX Runtime into your cache
setup: build
	@echo "== ONNX Runtime: looking for it, installing it into the cache if it is missing"
	./$(BIN) doctor --install

demo: setup
	@echo "== filling three blanks jointly: score and sentence, best first"
	./$(BIN) fill "$(SENTENCE)"
	@echo "== a page of its own: run ./$(BIN) serve, and open http://127.0.0.1:8017/"

# gotestsum prints what go test prints, and at the end which tests were skipped, and why. Tests are
# linked without what only a debugger reads, which takes half the time, and vetted by make lint.
TOOL      := $(GO) tool -modfile=$(CURDIR)/internal/tools/go.mod
TEST      := $(TOOL) gotestsum --format standard-quiet --raw-command $(GO) test -json -vet=off -ldflags=-w
TESTFLAGS ?=
test: setup
	@echo "== testing every package"
	$(TEST) -timeout 30m $(TESTFLAGS) ./...

# make test-docs   runs all examples of the documents, those of the default model too
test-docs: setup
	@echo "== testing the examples of the documents"
	INFILL_TEST_ALL=1 $(TEST) -timeout 20m -run 'Documented|Guide' ./cmd/infill

# make test-page   tests the page of infill serve in chromium; pictures go to bin/screenshots
test-page: setup
	@echo "== testing the page in a browser"
	cd server/browser && $(TEST) -count=1 -timeout 5m .

# make test-spark  tests the Spark job on two executors; needs Java and Python, installs PySpark
test-spark: setup
	@echo "== testing the Spark job"
	distributed/spark/test.sh

# make beam   builds bin/infill-beam, which fills files on Apache Beam's runners
beam:
	@echo "== building bin/infill-beam (the first build compiles Beam: two minutes)"
	cd beam && $(GO) build -ldflags "-X main.buildVersion=$(VERSION)" -o ../bin/infill-beam ./cmd/infill-beam

# make test-beam   tests it on Beam's runner Prism, in one process and in two
test-beam: setup
	@echo "== testing beam"
	cd beam && $(TEST) -count=1 -timeout 10m ./...

# make release   writes archives of the program and ONNX Runtime into dist, and their checksums.
#                PLATFORMS="linux-amd64 windows-arm64" makes some of them, by Zig's compiler,
#                and "this" the machine's own, by its C compiler
PLATFORMS ?=
release:
	@echo "== building archives (the first time compiles all dependencies for each platform)"
	GO=$(GO) python3 scripts/release/release.py $(VERSION) $(PLATFORMS)

# make module PATH=example.org/you/infill   writes a copy of the module with that path into
#                     dist/module, to be published
# The variable is also where programs are found, so the recipe asks the system for its own.
COPY ?= dist/module
module:
	@PATH=$$(command -p getconf PATH) scripts/module.sh "$(PATH)" "$(COPY)"

# make test-release   builds this machine's archive in two folders, compares the bytes, and runs it
#                     and the image in root folders of their own
test-release:
	@$(MAKE) release PLATFORMS=this
	@echo "== testing the archive and the image"
	INFILL_RELEASE=$(CURDIR)/dist $(TEST) -count=1 -timeout 10m -run 'Release|Image' ./deploy

# make wheel  writes dist/infill_mlm-….whl, which pip installs: an archive, and a package.
#             PLATFORMS as for release; without it one for machines like this
wheel:
	@$(MAKE) release PLATFORMS="$(or $(PLATFORMS),this)"
	@echo "== building the wheel"
	python3 scripts/release/wheel.py dist/infill-*-linux-*.tar.gz

# make test-wheel  tests it, and that it installs into an empty environment; without a network
test-wheel: setup wheel
	@echo "== testing the Python package"
	INFILL_PROGRAM=$(CURDIR)/$(BIN) PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 \
		python3 -W error::ResourceWarning -m unittest discover -s python/tests

# make lab    builds bin/lab, which runs what is measured, and what is repeated of papers
lab:
	@echo "== building bin/lab"
	cd lab && $(GO) build -o ../bin/lab ./cmd/lab

# make test-lab    tests the lab
test-lab: setup
	@echo "== testing lab"
	cd lab && $(TEST) -timeout 30m $(TESTFLAGS) ./...

# make test-all   the same tests as make test, with more repetitions, and the long ones
test-all: setup
	@echo "== testing every package, the long tests too"
	INFILL_TEST_ALL=1 $(TEST) -timeout 30m ./...
	INFILL_TEST_ALL=1 $(MAKE) test-lab

# make race   runs the tests under the race detector
RACEFLAGS ?=
race: setup
	$(TEST) -race -timeout 60m $(RACEFLAGS) ./...
	cd lab && $(TEST) -race -timeout 60m $(RACEFLAGS) ./...

# make race-short   the same for the packages whose code starts goroutines, without the long
#                   statistical tests
CONCURRENT := ./infill/batch ./internal/disk ./internal/gate ./internal/ort ./internal/unpack ./mlm \
	./models/hub ./server ./tokenize
race-short: setup
	$(TEST) -race -short -timeout 20m $(TESTFLAGS) $(CONCURRENT)
	$(TEST) -race -short -timeout 20m $(TESTFLAGS) -run 'Parts|Deterministic|AnyBatches|Score' ./infill

# make lint   gofmt, and golangci-lint with the checks of go vet
lint:
	@echo "== gofmt" && files=$$(gofmt -l .) && if [ -n "$$files" ]; then echo "not formatted:" $$files; exit 1; fi
	@echo "== golangci-lint" && $(GO) run $(LINT) run ./...
	cd server/browser && $(GO) run $(LINT) run ./...
	cd beam && $(GO) run $(LINT) run ./...
	cd lab && $(GO) run $(LINT) run ./...

# make fuzz   runs every fuzz target for FUZZTIME, 10s if not set, on one core each
fuzz:
	scripts/fuzz.sh $(FUZZTIME)

# make bench  runs the Go benchmarks
bench: setup
	$(GO) test -run '^$$' -bench . -benchmem ./...
	cd lab && $(GO) test -run '^$$' -bench . -benchmem ./...

# make verification   runs the samplers on the figures of their papers, the long ones too, and writes the
#                     page lab/notebook/verification.md: 50 minutes on two cores.
#                     VERIFYFLAGS="-only 5" prints one figure, and
#                     VERIFYFLAGS="-only 5 -write lab/notebook" puts it into the page
VERIFYFLAGS ?= -write lab/notebook -seed 1
verification: lab
	./bin/lab verify $(VERIFYFLAGS)

# make experiments   fetches data sets, makes the experiments of the papers, and writes the pages of
#                    lab/notebook/experiments. EXPERIMENTFLAGS="-quick all" prints a look
EXPERIMENTFLAGS ?= -write lab/notebook/experiments -seed 1 all
experiments: lab
	@echo "== data sets: looking for them, fetching what is missing into the cache"
	@set -e; for fetch in lab/scripts/data-*.sh; do "$$fetch"; done
	@echo "== running the experiments, one after the other"
	./bin/lab experiments $(EXPERIMENTFLAGS)

# make facility-plans  solves the instances of facility location with HiGHS again, which it installs
#                      into the cache: ten minutes. The page is then made by make experiments
facility-plans: lab
	lab/scripts/facility-plans.sh

BENCHFLAGS ?=
# make bench-torch   measures infill against PyTorch, which it installs into the cache: half an hour
bench-torch: setup lab
	./bin/lab torch $(BENCHFLAGS)

# make clean  removes bin
clean:
	rm -rf bin
