# Everything a person or CI runs. A fresh machine needs git, make and Node 20 or newer; the targets bring the rest.
SHELL := /bin/bash
.DEFAULT_GOAL := help

INSTALLED := node_modules/.punctual-installed
BUILT := dist/.built
# Folders are listed too: their time changes when a file is added or removed.
SOURCES := $(shell find src clients/typescript/src dashboard -not -name '.*' 2>/dev/null) $(wildcard openapi.yaml tsconfig.json tsconfig.build.json scripts/build.ts)
# Node 26 and the tools are npm packages; nothing here uses the machine's own Node once they are installed.
RUN := env PATH="$(CURDIR)/node_modules/.bin:$$PATH"

# Jobs may call this machine under `make run`: the echo target and most first targets live here.
LOOPBACK := 127.0.0.0/8,::1/128,localhost

IMAGE ?= punctual:$(shell sed -n 's/^  "version": "\(.*\)",$$/\1/p' package.json)

.PHONY: help install redis build run test e2e faults soak screenshots bench check image manifests site clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build redis ## build and start Punctual on http://127.0.0.1:8080, with everything it needs
	@export PUNCTUAL_LOG_FORMAT="$${PUNCTUAL_LOG_FORMAT:-text}"; \
	export PUNCTUAL_EGRESS_ALLOW="$${PUNCTUAL_EGRESS_ALLOW-$(LOOPBACK)}"; \
	echo "Beyond the Internet, jobs may call: $${PUNCTUAL_EGRESS_ALLOW:-nothing} (PUNCTUAL_EGRESS_ALLOW)"; \
	exec $(RUN) node dist/main.js standalone

test: build ## run every suite but e2e, with what they need; SUITES="model cluster" runs some
	@$(RUN) node scripts/test.ts $(SUITES)

e2e: install ## run the scenarios on kind clusters made for them; KEEP=1 leaves them
	@$(RUN) scripts/e2e.sh

faults: install redis ## strike under load and check that nothing is lost (docs/reliability.md); ROW=F09 runs one row
	@$(RUN) node test/faults/main.ts

soak: install redis ## strike one installation for HOURS=8 and check that nothing is lost and no memory grows
	@$(RUN) node test/faults/soak/main.ts

screenshots: build redis ## take the pictures of docs/images anew, in Chromium; ONLY="jobs crons" some
	@scripts/chromium.sh >/dev/null
	@$(RUN) node test/dashboard/support/shots/take-process.ts $(ONLY)

bench: build ## the side-by-side table (docs/performance.md); QUICK=1 takes three minutes
	@$(RUN) node bench/main.ts

check: install ## format, lint, types, dead code, generated files, workflows, unit tests
	@scripts/lint-workflows.sh
	@$(RUN) npm run --silent check

image: build ## build the container image; IMAGE names it, BASE_IMAGE is what it stands on, TARGET=standalone has a Redis
	@$(RUN) node scripts/image-tree.ts .image
	@docker build --build-arg PROGRAM=prebuilt $(if $(BASE_IMAGE),--build-arg BASE_IMAGE=$(BASE_IMAGE)) $(if $(TARGET),--target $(TARGET)) --tag $(IMAGE)$(if $(TARGET),-$(TARGET)) .

manifests: install ## render config/ and install.yaml from the chart
	@helm="$$(scripts/helm.sh)" && PATH="$$helm:$$PATH" && $(RUN) node scripts/manifests.ts

site: install ## build the documents as a static site in .site/
	@$(RUN) node scripts/site.ts

build: $(BUILT) ## compile to dist/

install: $(INSTALLED) ## install the npm packages

redis:
	@scripts/redis.sh

clean: ## remove what was built; node_modules and .punctual stay
	rm -rf dist coverage .image .site

$(INSTALLED): package-lock.json
	@scripts/install.sh

$(BUILT): $(INSTALLED) $(SOURCES)
	@$(RUN) node scripts/build.ts
	@touch $@
