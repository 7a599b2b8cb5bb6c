#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages that taskscope needs: usage: install-packages.sh GROUP...
#
# Groups: build (make, make run), test, bench, verdicts, deb, format (the make targets of those names).  Asks apt
# only for what is missing, as root or through sudo, and does nothing when everything is there.  On a
# system without apt it prints the list, whose names are much the same elsewhere, and stops.
set -eu

# group	package			why
packages() {
	cat <<-'END'
	build	gcc			C compiler
	build	libc6-dev		C library headers
	build	make			the targets of the Makefile
	build	meson			build system
	build	ninja-build		what meson drives
	build	pkg-config		finds the libraries below
	build	clang			compiles the BPF programs
	build	llvm			strips them
	build	bpftool			makes the C skeletons of the BPF programs
	build	libbpf-dev		loads them
	build	libmnl-dev		asks the kernel's taskstats
	build	libelf-dev		reads programs; needed by libbpf too
	build	libdw-dev		reads their debug information
	build	libiberty-dev		demangles names of C++ and Rust functions
	build	liblzma-dev		unpacks mini debug information
	build	libjansson-dev		reads the JSON of .ctprof.zst files
	build	zlib1g-dev		profiles for pprof; needed by libbpf too
	build	libzstd-dev		compresses snapshot files
	build	libxxhash-dev		checksums of snapshot files
	build	libsqlite3-dev		recordings
	build	libncurses-dev		the screen of top
	build	scdoc			manual pages
	build	python3			runs the checks that are part of the build
	build	nodejs:node		bundles the page of reports; a part after ":" is a command that will do as well
	build	npm:npm			fetches what that is made of
	test	libcmocka-dev		unit tests
	test	g++			C++ compiler: an example of the library
	test	libclang-rt-14-dev	libFuzzer and clang's sanitizers
	test	lld			links programs whose thread-local storage is misaligned
	test	libjemalloc2		allocator whose counters are read
	test	libjemalloc-dev		the same, to be linked into a program
	test	redis-tools		has the server, as a program to be looked at
	test	xz-utils		packs mini debug information
	test	strace			full traces; shows that a recorded root touches nothing of the live host
	test	util-linux		setpriv, unshare
	test	protobuf-compiler	takes profiles for pprof apart
	test	qemu-system-x86		boots other kernels
	test	busybox-static		the user space of those kernels
	test	chromium		draws the page of reports
	test	bash-completion		completes the command after `run --` in bash
	test	zsh			completes command lines
	test	fish			completes command lines
	bench	procps			peers: ps, top
	bench	libjemalloc2		allocator whose counters are read
	bench	sysstat			peer: pidstat
	bench	atop			peer
	bench	htop			peer
	bench	prometheus-process-exporter	peer
	bench	python3-psutil		peer
	bench	python3-dbg		names of python3's functions, whose stacks are taken
	bench	strace			peer
	bench	linux-perf		peer, and its ping-pong is a load
	bench	libbpf-tools		peers: offcputime, syscount
	verdicts	age			a program in Go; this and the next are programs of the corpus
	verdicts	apache2-utils		ab, a client
	verdicts	bc			computes
	verdicts	brotli			compressor
	verdicts	bzip2			compressor
	verdicts	curl			client
	verdicts	expect			has a terminal for others
	verdicts	fio			reads and writes files
	verdicts	gawk			language
	verdicts	gcc			waits for a child of its own
	verdicts	gdb			stops what it debugs
	verdicts	git			waits for a child of its own
	verdicts	guile-3.0		language
	verdicts	jq			end of a pipeline
	verdicts	lighttpd		server
	verdicts	lua5.4			language
	verdicts	luajit			language
	verdicts	lz4			compressor
	verdicts	m4			language
	verdicts	nginx-light		server
	verdicts	ninja-build		waits for children
	verdicts	nodejs			language
	verdicts	openjdk-17-jre-headless	language, which collects garbage
	verdicts	openssh-client		ssh-keygen computes
	verdicts	openssl			computes
	verdicts	perl			language
	verdicts	php-cli			language
	verdicts	pigz			compressor with threads
	verdicts	plzip			compressor with threads
	verdicts	pv			limits the rate of a pipeline
	verdicts	python3			language, whose threads take turns
	verdicts	python3-pytest		runs tests
	verdicts	redis-tools		server and client
	verdicts	rhino			language on top of Java
	verdicts	rsync			three processes
	verdicts	ruby			language, whose threads take turns
	verdicts	socat			server
	verdicts	sqlite3			syncs
	verdicts	strace			stops what it traces
	verdicts	stress-ng		more processes than CPUs
	verdicts	tcl			language
	verdicts	vim-tiny		waits at a terminal
	verdicts	wget			client
	verdicts	xz-utils		compressor
	deb	debhelper		make deb: builds Debian packages
	deb	build-essential		what every Debian package may count on
	deb	lintian			checks them
	format	clang-format		make format
	END
}

wanted() {
	for group in "$@"; do
		packages | awk -v group="$group" '$1 == group { print $2 }'
	done | while IFS=: read -r package command; do
		[ -n "$command" ] && command -v "$command" >/dev/null && continue
		echo "$package"
	done
}

# Prints which of the packages are not installed; one that dpkg never heard of gets no line from it.
missing() {
	{
		dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true
		printf 'wanted %s\n' "$@"
	} | awk '$1 == "installed" { there[$2] } $1 == "wanted" && !($2 in there) { print $2 }'
}

fail() {
	echo "$0: $*" >&2
	exit 1
}

[ $# -gt 0 ] || fail "usage: install-packages.sh build|test|bench|verdicts|deb|format..."
list=$(wanted "$@")
[ -n "$list" ] || fail "no such group: $*"

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
	echo "taskscope needs these (Debian's names):" >&2
	packages | awk -v groups=" $* " 'index(groups, " " $1 " ")' >&2
	fail "this is not a Debian system: install them, then use \`make PACKAGES=true\`"
fi

# shellcheck disable=SC2046,SC2086 # the lists are split into words on purpose
set -- $(missing $list)
[ $# -gt 0 ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
	as_root=
elif command -v sudo >/dev/null; then
	as_root=sudo
else
	fail "needs root or sudo to install: $*"
fi

echo "installing: $*"
$as_root apt-get -qq update
$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "$@"
