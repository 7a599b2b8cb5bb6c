#!/bin/sh
# SPDX-License-Identifier: MIT
# Records a small part of this host, for tests: usage: record-root.sh [-p PID,...] DIRECTORY
#
# Copies what taskscope reads of each process and thread (all, or those of -p) below DIRECTORY/proc,
# with the few files of /sys and the facts that no file tells in DIRECTORY/taskscope-root, one
# "key value" a line.  `taskscope --root DIRECTORY` then sees that host.  What cannot be read is not
# recorded: as root the recording is complete.
#
# Made to be published: no host name, no environment, of a command line only the name of the
# program, of its path no directories but the usual ones, invented user names and boot id, no long
# hexadecimal ids in cgroup paths.  Thread names
# and numbers stay as they are: read them before you publish them.
#
# Needs a POSIX shell and the usual small tools; those of busybox will do.
set -u
export LC_ALL=C

PROCESS_FILES="statm limits stat io"
THREAD_FILES="cgroup stat status schedstat sched io"
HOST_FILES="diskstats interrupts loadavg meminfo net/dev net/sockstat pressure/cpu pressure/io pressure/irq pressure/memory
	stat sys/kernel/osrelease sys/kernel/ostype sys/kernel/task_delayacct uptime vmstat"
SYS_FILES="devices/system/cpu/online devices/system/cpu/smt/control devices/system/node/has_cpu
	kernel/mm/transparent_hugepage/defrag kernel/mm/transparent_hugepage/enabled
	kernel/sched_ext/enable_seq kernel/sched_ext/hotplug_seq kernel/sched_ext/nr_rejected
	kernel/sched_ext/root/ops kernel/sched_ext/state kernel/sched_ext/switch_all"
KNOBS="base_slice_ns features latency_ns latency_warn_ms migration_cost_ns min_granularity_ns
	nr_migrate preempt tunable_scaling wakeup_granularity_ns"
CGROUP_FILES="cgroup.controllers cpu.max cpu.pressure cpu.stat cpu.weight cpu.weight.nice
	cpuset.cpus cpuset.cpus.effective cpuset.mems cpuset.mems.effective io.pressure io.stat
	irq.pressure memory.current memory.events memory.events.local memory.high memory.low memory.max
	memory.min memory.peak memory.pressure memory.stat memory.swap.current memory.swap.max
	pids.current pids.max pids.peak
	blkio.throttle.io_service_bytes_recursive blkio.throttle.io_serviced_recursive
	cpu.cfs_period_us cpu.cfs_quota_us cpu.shares cpuacct.stat cpuacct.usage cpuset.effective_cpus
	cpuset.effective_mems memory.failcnt memory.limit_in_bytes memory.max_usage_in_bytes
	memory.oom_control memory.usage_in_bytes"
MACHINE_ID=0123456789abcdef0123456789abcdef
# Of the kernel's command line: what tells nothing about its owner.
PLAIN_WORDS="console|default_hugepagesz|delayacct|hugepages|hugepagesz|isolcpus|mitigations|nohz_full"
PLAIN_WORDS="$PLAIN_WORDS|nosmt|panic|preempt|psi|quiet|rcu_nocbs|ro|rw|schedstats|transparent_hugepage"

fail() {
	echo "record-root.sh: $*" >&2
	exit 2
}

# Copies a file, through a filter if one is given; what cannot be read leaves nothing behind.
copy() {
	source=$1 target=$2
	shift 2
	[ $# -gt 0 ] || set -- cat
	mkdir -p "${target%/*}"
	cat "$source" >"$target.part" 2>/dev/null && "$@" <"$target.part" >"$target"
	rm -f "$target.part"
}

# Recordings of one boot have the same, those of another one have another, and neither tells the
# true one.
# shellcheck disable=SC2317 # a filter for copy
invent_boot_id() {
	sha256sum | sed 's/^\(.\{8\}\)\(.\{4\}\)\(.\{3\}\)\(.\{3\}\)\(.\{12\}\).*/\1-\2-4\3-8\4-\5/'
}

# shellcheck disable=SC2317 # a filter for copy
scrub_cgroup() {
	sed 's/[0-9a-f]\{12,\}/scrubbed/g'
}

# Where the process has its memory is nobody's business.
# shellcheck disable=SC2317 # likewise
scrub_smaps() {
	sed '1s/^[0-9a-f]*-[0-9a-f]* /0-0 /'
}

# The name of the program without its directory, ended by a zero byte as in the original.
# shellcheck disable=SC2317 # likewise
scrub_cmdline() {
	tr '\0' '\n' | sed -n '1{s,.*/,,;p;}' | tr '\n' '\0'
}

# What follows the two dashes is for the first process.
# shellcheck disable=SC2317 # likewise
scrub_kernel_cmdline() {
	tr ' ' '\n' | sed '/^--$/,$d' | grep -E "^($PLAIN_WORDS)(=|\$)" | tr '\n' ' ' | sed 's/ $//'
	echo
}

# shellcheck disable=SC2317 # likewise
first_cpu() {
	sed '/^$/q'
}

copy_task() {
	from=$1 to=$2
	shift 2
	for file in "$@"; do
		if [ "$file" = cgroup ]; then
			copy "$from/$file" "$to/$file" scrub_cgroup
		else
			copy "$from/$file" "$to/$file"
		fi
	done
}

# The link to the program; kernel threads have none, and that of a stranger cannot be read.
record_exe() {
	program=$(readlink "$1") || return 0
	case $program in
	/usr/local/*) program=/scrubbed/${program##*/} ;;
	/usr/* | /bin/* | /sbin/* | /lib/*) ;;
	*) program=/scrubbed/${program##*/} ;;
	esac
	mkdir -p "${2%/*}" && ln -s "$program" "$2"
}

record_process() {
	pid=$1
	# shellcheck disable=SC2086 # a list of words
	copy_task "/proc/$pid" "$root/proc/$pid" $PROCESS_FILES
	copy "/proc/$pid/cmdline" "$root/proc/$pid/cmdline" scrub_cmdline
	copy "/proc/$pid/smaps_rollup" "$root/proc/$pid/smaps_rollup" scrub_smaps
	record_exe "/proc/$pid/exe" "$root/proc/$pid/exe" 2>/dev/null
	for task in "/proc/$pid/task/"[0-9]*; do
		# shellcheck disable=SC2086
		copy_task "$task" "$root$task" $THREAD_FILES
	done
	if files=$(ls "/proc/$pid/fd" 2>/dev/null); then
		echo "open_fds $pid $(echo "$files" | grep -c .)" >>"$root/taskscope-root"
	fi
}

record_host() {
	for file in $HOST_FILES; do
		copy "/proc/$file" "$root/proc/$file"
	done
	for file in /proc/sys/kernel/sched_*; do
		[ -f "$file" ] && copy "$file" "$root$file"
	done
	copy /proc/cmdline "$root/proc/cmdline" scrub_kernel_cmdline
	copy /proc/cpuinfo "$root/proc/cpuinfo" first_cpu
	mkdir -p "$root/proc/sys/kernel/random" "$root/etc"
	copy /proc/sys/kernel/random/boot_id "$root/proc/sys/kernel/random/boot_id" invent_boot_id
	echo "$MACHINE_ID" >"$root/etc/machine-id"
}

record_sys() {
	for file in $SYS_FILES; do
		copy "/sys/$file" "$root/sys/$file"
	done
	for knob in $KNOBS; do
		copy "/sys/kernel/debug/sched/$knob" "$root/sys/kernel/debug/sched/$knob"
	done
	for file in /sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor; do
		[ -f "$file" ] && copy "$file" "$root$file"
	done
}

# Whether the kernel was built with accounting, where that can be known: I/O counters need the one.
record_options() {
	config=$(zcat /proc/config.gz 2>/dev/null || cat "/boot/config-$(uname -r)" 2>/dev/null)
	if [ -n "$config" ]; then
		for option in CONFIG_IRQ_TIME_ACCOUNTING CONFIG_TASK_DELAY_ACCT CONFIG_TASK_XACCT; do
			echo "$config" | grep -q "^$option=y" && echo "$option y" || echo "$option n"
		done
	elif [ -e /proc/self/io ]; then
		echo "CONFIG_TASK_XACCT y"
	fi >>"$root/taskscope-root"
}

# One file of each hierarchy's root is enough to tell which ones there are.
record_cgroups() {
	for file in /sys/fs/cgroup/cgroup.controllers /sys/fs/cgroup/*/cgroup.controllers \
		/sys/fs/cgroup/*/notify_on_release; do
		case $file in
		/sys/fs/cgroup/cgroup.controllers | /sys/fs/cgroup/unified/* | */notify_on_release)
			[ -r "$file" ] && copy "$file" "$root$file"
			;;
		esac
	done
}

# The cgroups of these processes and all above them: one "controllers:path" a line, none of v2.
cgroups_of() {
	for pid in "$@"; do
		cat "/proc/$pid/task/"*/cgroup 2>/dev/null
	done | sort -u | awk '{
		sub(/^[0-9]*:/, "")
		controllers = path = $0
		sub(/:.*/, "", controllers)
		sub(/^[^:]*:/, "", path)
		for (; path != "" && path !~ /^\/\.\.(\/|$)/; sub(/\/[^\/]*$/, "", path))
			print controllers ":" path
		print controllers ":"
	}' | sed 's,:/$,:,' | sort -u
}

record_cgroup() {
	tree=$1 path=$2
	scrubbed=$(echo "$path" | scrub_cgroup)
	for file in $CGROUP_FILES; do
		[ -f "$tree$path/$file" ] && copy "$tree$path/$file" "$root$tree$scrubbed/$file"
	done
}

record_cgroup_files() {
	cgroups_of "$@" | while IFS= read -r entry; do
		controllers=${entry%%:*} path=${entry#*:}
		if [ -z "$controllers" ]; then
			[ -f /sys/fs/cgroup/unified/cgroup.controllers ] && controllers=unified || controllers=.
		fi
		for tree in $(echo "$controllers" | tr ',' ' '); do
			record_cgroup "/sys/fs/cgroup/$tree" "$path"
		done
	done
}

# An entry of the auxiliary vector that the kernel gave to the program that reads it.
auxiliary() {
	od -A n -v -t u8 /proc/self/auxv | awk -v type="$1" '$1 == type { print $2; exit }'
}

namespace() {
	readlink "/proc/self/ns/$1" | tr -cd '0-9'
}

# The list of timers, which root may read, has the time to the nanosecond.
monotonic() {
	awk '/^now at/ { print $3; found = 1; exit } END { exit !found }' /proc/timer_list 2>/dev/null ||
		boottime
}

boottime() {
	awk '{ sub(/\./, "", $1); print $1 "0000000" }' /proc/uptime
}

record_facts() {
	booted=$(boottime)
	awake=$(monotonic)
	# The two differ by the time asleep; less than a tick of the coarser one is no difference.
	[ $((booted - awake)) -gt 10000000 ] || booted=$awake
	now=$(date +%s%N)
	case $now in *[!0-9]*) now=$(date +%s)000000000 ;; esac
	cat <<-END >>"$root/taskscope-root"
	captured_at_unix_ns $now
	monotonic_ns $awake
	boottime_ns $booted
	page_size $(auxiliary 6)
	clock_ticks $(auxiliary 17)
	arch $(uname -m)
	pid_namespace $(namespace pid)
	cgroup_namespace $(namespace cgroup)
	END
}

record_users() {
	mkdir -p "$root/etc"
	cat "$root"/proc/[0-9]*/task/*/status 2>/dev/null | awk '$1 == "Uid:" { print $2 }' | sort -n -u |
		awk '{ print ($1 == 0 ? "root" : "user" $1) ":x:" $1 ":" $1 "::/:" }' >"$root/etc/passwd"
}

pids=
while getopts p: option; do
	case $option in
	p) pids=$(echo "$OPTARG" | tr ',' ' ') ;;
	*) fail "usage: record-root.sh [-p PID,...] DIRECTORY" ;;
	esac
done
shift $((OPTIND - 1))
[ $# -eq 1 ] || fail "usage: record-root.sh [-p PID,...] DIRECTORY"
root=${1%/}
if [ -e "$root" ] && [ -n "$(ls -A "$root")" ]; then
	fail "$root is not empty"
fi
mkdir -p "$root" || fail "cannot make $root"
[ -n "$pids" ] || pids=$(cd /proc && echo [0-9]*)

record_facts
record_options
record_host
record_sys
record_cgroups
for pid in $pids; do
	record_process "$pid"
done
# shellcheck disable=SC2086 # a list of numbers
record_cgroup_files $pids
record_users
# What was not there, or ended meanwhile, left only empty folders.
find "$root/proc" "$root/sys" -depth -type d -exec rmdir {} + 2>/dev/null
exit 0
