# Every target works from a fresh clone with Go alone, which fetches modules the first time; race also needs a C
# compiler, picture, page and the gpu targets more.
GO       ?= go
FUZZTIME ?= 10s
BENCH    ?= .
MUTANTS  ?= 40
GROUP    ?=
SUM       = $(GO) run ./internal/tools/testsum
TOOL      = $(GO) tool -modfile=scripts/tools/go.mod
TARGETS   = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
OTHERS    = linux/386 linux/arm
LDFLAGS   = -s -w -X github.com/weftgraph/weft.version=$(VERSION)
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

.PHONY: build test test-long docs-test docs-rewrite race fuzz mutate lint bench cross gpu-test gpu-bench figures kernels-check release-snapshot wheels python-test notices page page-test page-pictures picture

build: ## bin/weft for this machine
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/weft ./cmd/weft

test: ## go test ./..., and how many tests passed and were skipped, and why
	@$(GO) test -json ./... | $(SUM)

test-long: ## the same with tests that take long; known answers on larger graphs where WEFT_DATA is set
	@WEFT_LONG=1 $(GO) test -json -timeout 60m ./... | $(SUM)

docs-test: ## the examples of README.md and docs/
	$(GO) test ./docs

docs-rewrite: ## write what the examples print now into README.md and docs/
	$(GO) test ./docs -rewrite

race: ## the short tests under the race detector
	GORACE=atexit_sleep_ms=50 CGO_ENABLED=1 $(GO) test -race -short -timeout 30m ./...

fuzz: ## every fuzz target for FUZZTIME
	FUZZTIME=$(FUZZTIME) GO="$(GO)" scripts/fuzz.sh

mutate: ## small mistakes in the code, MUTANTS in each of nine packages or in GROUP alone, and whether tests notice; the rows of docs/mutation.md
	$(GO) run ./internal/tools/mutate -n $(MUTANTS) -doc docs/mutation.md $(GROUP)

lint: ## formatting, vet, staticcheck
	@out=$$(gofmt -s -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	if [ -n "$$out" ]; then echo "not formatted (gofmt -s -w):"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(TOOL) staticcheck ./...

bench: ## the Go benchmarks whose names match BENCH
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

cross: ## compile for every platform of a release; check types for those that are only kept compiling
	@set -e; for t in $(TARGETS); do echo "build $$t"; \
	CGO_ENABLED=0 GOOS=$${t%/*} GOARCH=$${t#*/} $(GO) build -o /dev/null ./cmd/weft; done
	@$(GO) run ./internal/tools/typecheck $(OTHERS)

kernels-check: ## compile device code for GPUs, where clang-19 is installed, and by NVRTC where that is; says so where they are not
	WEFT_KERNELS_CHECK=1 WEFT_LONG=1 $(GO) test -count=1 -v -run 'Compiles?ForGPUs|TestRefuses' ./internal/cuda/... ./internal/engine/... ./internal/gpu/... ./internal/matcha/...

gpu-test: ## tests for a machine with a GPU, which needs no Go, in dist/gpu; runs them if this is one
	GO="$(GO)" scripts/gpu/build.sh test

gpu-bench: ## the same for benchmarks
	GO="$(GO)" scripts/gpu/build.sh bench

figures: ## the tables of README.md and of documents in docs from the results in docs/results
	$(GO) run ./internal/tools/figures

release-snapshot: ## the archives of a release, in dist/
	GO="$(GO)" VERSION="$(VERSION)" LDFLAGS="$(LDFLAGS)" TARGETS="$(TARGETS)" scripts/release-snapshot.sh

wheels: ## wheels of the Python package for the archives in dist/
	python3 scripts/wheels.py

python-test: build ## tests of the Python package
	cd python && WEFT_BINARY=$(CURDIR)/bin/weft PYTHONDONTWRITEBYTECODE=1 python3 -m pytest -q -rs

notices: ## THIRD_PARTY_NOTICES, the licences of what is linked
	$(GO) run ./internal/tools/notices $(TARGETS)

page: ## internal/serve/page/dist from web/, and its licences in THIRD_PARTY_NOTICES, with Node.js
	cd web && npm ci --no-audit --no-fund && npm run build
	$(GO) run ./internal/tools/notices $(TARGETS)

page-pictures: build ## docs/img/page-*.png, with Node.js and Chromium
	cd web && WEFT_BINARY=$(CURDIR)/bin/weft node pictures.mjs

page-test: build ## tests of the page, in Chromium
	cd web && npm ci --no-audit --no-fund && WEFT_BINARY=$(CURDIR)/bin/weft npm test

picture: ## docs/img/match.svg
	$(GO) run ./internal/tools/drawmatch -g testdata/graphs/ego-facebook.txt.gz -o docs/img/match.svg
