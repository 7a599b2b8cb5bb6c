# SPDX-License-Identifier: MIT
# The short way in; meson does the work.  `make help` lists the targets, PACKAGES=true skips the
# package check.
PREFIX       ?= /usr/local
FUZZ_SECONDS ?= 30
N            ?= 100
SEED         ?= 1
JOBS         ?= 1
RELEASE       = taskscope-$(shell sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
PACKAGES     ?= tools/install-packages.sh
CMD          ?= build/demo/demo

.PHONY: all configure run test stress bench verdicts fuzz mutants install dist deb format clean help
.NOTPARALLEL:

all: configure	## build build/taskscope (installs what the build needs)
	@ninja -C build

configure:
	@$(PACKAGES) build
	@test -f build/build.ninja || meson setup build --prefix="$(PREFIX)" -Dtests=disabled

run: configure	## build, then profile a small demo, or CMD='make -j8'
	@ninja -C build taskscope demo/demo
	build/taskscope run -- $(CMD)

test:		## build and run every test, sanitizers and fuzz corpora included
	@$(PACKAGES) build test
	@python3 tests/run.py

stress: N = 5
stress:		## run the tests that depend on time N=5 times, on a machine made busy
	@$(PACKAGES) build test
	@python3 tests/stress.py $(N)

bench: configure	## measure against ps, top, pidstat, atop and psutil
	@$(PACKAGES) bench
	@ninja -C build taskscope benches
	@python3 bench/run.py build

verdicts: configure	## play the corpus of programs: how often is a verdict right? (FILTER, JOBS, AGAIN=1)
	@$(PACKAGES) test verdicts
	@meson configure build -Dtests=enabled
	@ninja -C build taskscope workloads
	@python3 tests/verdicts/run.py --filter "$(FILTER)" --jobs $(JOBS) $(if $(AGAIN),--again) build

fuzz:		## fuzz every parser for FUZZ_SECONDS each
	@$(PACKAGES) build test
	@python3 tests/fuzz/run.py $(FUZZ_SECONDS)

mutants:	## break the program in N=100 ways and see whether tests notice (SEED, LAYER)
	@$(PACKAGES) build test
	@tools/mutants.py -n $(N) --seed $(SEED) $(if $(LAYER),--layer $(LAYER))

install: all	## install below PREFIX (DESTDIR is honoured)
	@meson configure build -Dprefix="$(PREFIX)"
	@meson install -C build
	@test -n "$(DESTDIR)" || ldconfig 2>/dev/null || true # where the library is, if we may say so

dist: configure	## write build-dist/taskscope-VERSION.tar.gz of what is committed, with the page of reports made
	@ninja -C build web/report.html
	@grep -q @DOCUMENT@ build/web/report.html || { cat build/web/report.html; false; }
	@mkdir -p build-dist
	@git archive --prefix=$(RELEASE)/web/dist/ --add-file=build/web/report.html --prefix=$(RELEASE)/ \
		-o build-dist/$(RELEASE).tar.gz HEAD

deb: dist	## build Debian packages of that in build-deb, and check them with lintian
	@$(PACKAGES) build deb
	@rm -rf build-deb && mkdir build-deb
	@tar -xf build-dist/$(RELEASE).tar.gz -C build-deb
	@cd build-deb/$(RELEASE) && dpkg-buildpackage -us -uc -b
	@lintian --allow-root --fail-on error,warning build-deb/*.changes

format:		## let clang-format decide
	@$(PACKAGES) format
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:		## remove everything that was built
	@rm -rf build build-sanitize build-fuzz build-dist build-deb

help:
	@sed -n 's/^\([a-z]*\):.*## */\1\t/p' $(MAKEFILE_LIST)
