# Plain `make` prints this list.
GO ?= go
FUZZTIME ?= 30s
ROUNDS ?= 300

.PHONY: help build test lint bench fuzz crash big check cross

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-7s %s\n", $$1, $$2}' Makefile

build: ## build ./correx
	$(GO) build -trimpath -o correx .

test: ## all tests
	$(GO) test ./...

lint: ## formatting, vet, staticcheck, house rules
	@out="$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go'))"; test -z "$$out" || { echo "not formatted: $$out"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) test ./internal/archtest

cross: ## build and vet for macOS and Windows
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) build -o /dev/null . && GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=windows CGO_ENABLED=0 $(GO) build -o /dev/null . && GOOS=windows CGO_ENABLED=0 $(GO) vet ./...

bench: ## the figures against git, in bench/
	$(GO) test -run '^$$' -bench . -benchtime 5x ./bench

fuzz: ## every fuzz target for FUZZTIME each
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$pkg || exit 1; \
	  done; \
	done

crash: ## every fault at every step of every routine, and ROUNDS kills
	FAULT_STEPS=all CRASH_ROUNDS=$(ROUNDS) $(GO) test -timeout 6h -count=1 -run 'TestFaults|TestKilled' .
	$(GO) test -count=3 ./internal/apply ./internal/ledger ./internal/durable ./undo ./hooks ./shadow

big: ## 10,000 paths in one set and a file of 2 GiB (needs 10 GiB of disk)
	CORREX_TEST_BIG=1 $(GO) test -count 1 -timeout 30m -v -run 'TestManyPaths|TestHugeFile' .

check: lint test cross ## everything that CI runs
