# Two words do everything, set-up included: `make demo` and `make test`.
# A fresh machine needs python3 (3.11 or newer, with venv and pip) and make; a C compiler makes the scanner faster.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: scopes bench watch freshness bench-refresh demo test lint types imports check fix lab-check survey bench-stats truth study real-sites crash bench-lab bench-rank bench-convert bench-search browser bench-hostile schedule fuzz fuzz-asan soak clean

demo: $(VENV)/ready            ## the whole circle on the lab's web; CI=1 does not stay
	$(BIN)/nephila demo

test: $(VENV)/ready            ## all tests
	$(BIN)/pytest -n 2 --dist loadgroup

lint: $(VENV)/ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/ready
	$(BIN)/mypy

imports: $(VENV)/ready         ## which room may import which
	$(BIN)/lint-imports

check: lint types imports test ## what CI runs

fix: $(VENV)/ready
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lab-check: $(VENV)/ready       ## S1's Tables 1-13 beside the generated web
	$(BIN)/nephila lab check

SITES ?= 128
survey: $(VENV)/ready          ## S1's Tables 1-6 from a crawl of the lab over HTTP: SITES=128, 67,000 pages; takes minutes
	rm -rf build/survey
	$(BIN)/nephila lab survey -C build/survey --sites $(SITES)

bench-stats: $(VENV)/ready     ## all tables of 10^7 pages: seconds and memory; needs 4 GB of disk
	$(BIN)/python bench/stats.py build build/bench-stats 10000000
	$(BIN)/python bench/stats.py measure build/bench-stats

truth: $(VENV)/ready           ## the lab's 10^5 pages collected, and compared with its truth; takes minutes
	$(BIN)/python tests/circle/big.py

study: $(VENV)/ready           ## nine batches of the lab's web, crawled, beside S1's Tables 7-13; takes minutes
	$(BIN)/python tests/circle/study.py
	NEPHILA_LONG=1 $(BIN)/pytest -n0 tests/circle/test_study_killed.py

real-sites: $(VENV)/ready      ## three real manuals collected completely; needs apt-get and dpkg-deb
	mkdir -p build/debs && cd build/debs && apt-get download httrack-doc anarchism mplayer-doc
	NEPHILA_DEBS=build/debs $(BIN)/pytest -n0 tests/real

KILLS ?= 1000
crash: $(VENV)/ready           ## crawls killed KILLS times, at random and at named points; prints a table; takes an hour
	$(BIN)/python tests/crash/long.py --kills $(KILLS)
	NEPHILA_LONG=1 $(BIN)/pytest -n 2 --dist loadgroup tests/crash/test_disk_full.py tests/crash/test_power.py tests/crash/test_repair.py tests/crash/test_clock_jumps.py tests/hostile/test_robots_of_days.py tests/circle/test_refresh.py

WEBS ?= mid,small,synth,real
bench: $(VENV)/ready           ## Nephila beside wget2, wget, httrack, crawlee and Scrapy on four webs behind nginx; takes an hour
	$(BIN)/python bench/crawl.py --webs $(WEBS) --python $(BENCH_PYTHON)

bench-lab: $(VENV)/ready       ## the lab's pages per second and memory at a million sites
	$(BIN)/python bench/lab_server.py

# The libraries it is measured against are no dependencies; BENCH_PYTHON=… names a Python that has them.
BENCH_PYTHON ?= $(BIN)/python
bench-rank: $(VENV)/ready      ## PageRank beside scipy, igraph, networkit, scikit-network and networkx
	$(BIN)/python bench/rank.py --python $(BENCH_PYTHON)

bench-convert: $(VENV)/ready   ## CPU of each step of reading a page, and the join of 20 million links
	$(BIN)/python bench/convert.py pages /usr/share/doc
	$(BIN)/python bench/convert.py links

browser: $(VENV)/ready         ## the web pages in a real browser; installs Debian's Chromium when root
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,browser]'
	@command -v chromium-headless-shell chromium >/dev/null || { [ "$$(id -u)" = 0 ] && \
	  apt-get install --yes --quiet chromium-headless-shell >/dev/null; } || \
	  { echo "There is no Chromium: apt-get install chromium-headless-shell, as root."; exit 1; }
	$(BIN)/pytest -n0 tests/browser

BENCH_DIR ?= build/bench-search
bench-search: $(VENV)/ready    ## milliseconds per query at a million pages, and known-item search on the lab
	$(BIN)/python bench/search.py build $(BENCH_DIR)/million 1000000
	$(BIN)/python bench/search.py speed $(BENCH_DIR)/million
	$(BIN)/python bench/search.py lab $(BENCH_DIR)/lab
	$(BIN)/python bench/search.py quality $(BENCH_DIR)/lab/crawl

schedule: $(VENV)/ready        ## plans for 10^5 sites, and crawls of the lab by each policy on a fast clock; takes half an hour
	$(BIN)/python bench/schedule.py plan
	$(BIN)/python bench/schedule.py crawl
	NEPHILA_LONG=1 $(BIN)/pytest -n0 tests/circle/test_policies.py

bench-hostile: $(VENV)/ready   ## the control site alone and among all hostile sites, loop lag and memory
	$(BIN)/python bench/hostile.py

scopes: $(VENV)/ready          ## kinds of crawler on real manuals and the lab: harvest ratio, precision; needs apt-get and dpkg-deb
	mkdir -p build/debs/unpacked && cd build/debs && apt-get download httrack-doc anarchism mplayer-doc
	for package in build/debs/*.deb; do dpkg-deb -x "$$package" build/debs/unpacked; done
	$(BIN)/python bench/scopes.py build/debs/unpacked

freshness: $(VENV)/ready       ## freshness of four policies at equal budgets, over HTTP, by the lab's truth; takes minutes
	$(BIN)/python bench/freshness.py

WATCHED ?= 2000
watch: $(VENV)/ready           ## a watch over WATCHED=2000 sites on a fast clock, killed twice; 30 rounds; takes a quarter of an hour
	$(BIN)/python bench/watch.py --sites $(WATCHED)

bench-refresh: $(VENV)/ready   ## ten million pages planned: the first call makes them, the second plans twice
	$(BIN)/python bench/refresh.py build/bench-refresh
	$(BIN)/python bench/refresh.py build/bench-refresh

SECONDS ?= 60
fuzz: $(VENV)/ready            ## scanner, HTTP, decoding, robots.txt, URLs, WARC: SECONDS=60
	$(BIN)/python fuzz/drive.py --seconds $(SECONDS)

fuzz-asan: $(VENV)/ready       ## the same for the compiled scanner, built with AddressSanitizer
	SECONDS=$(SECONDS) PYTHON=$(BIN)/python sh fuzz/asan.sh

MINUTES ?= 60
soak: $(VENV)/ready            ## everything at once, with kills: MINUTES=60
	$(BIN)/python bench/soak.py --minutes $(MINUTES)

$(VENV)/ready: pyproject.toml src/nephila/convert/_simhash.c src/nephila/lab/_mixing.c src/nephila/markup/_scan.c src/nephila/rank/_kernel.c
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build src/*.egg-info src/nephila/*/*.so crawl demo
