/* SPDX-License-Identifier: MIT */
/* Reads facts about the host, each from its file. */
#include "collect/host/host_context.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/cpulist.h"
#include "base/file.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/host/fact_absence.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"

#define NS_DIGITS 9
/* The first CPU's part of cpuinfo; the whole file grows with the number of CPUs. */
#define FIRST_CPU_BYTES 4096
/* Makes our hash of a machine id different from other programs' hashes. */
#define MACHINE_ID_SEED UINT64_C(0x7461736b73636f70)
#define MACHINE_ID_LENGTH 32

struct line_fact {
	enum fact_id id;
	struct fact_place place;
	/* Changes the line to what is kept; false when it makes no sense; NULL: all of it is kept */
	bool (*check)(char *line);
	/* The same for a fact that is a number; NULL: it is a text */
	bool (*parse)(const char *line, uint64_t *ret);
};

static const struct fact_place meminfo = { TREE_PROC, "meminfo" };
static const struct fact_place cpuinfo = { TREE_PROC, "cpuinfo" };
static const struct fact_place nodes = { TREE_SYS, "devices/system/node/has_cpu" };

/*
 * ---- what a line should be ----
 *
 * A recorded tree may have been cut or altered, and a nonsensical fact is worse than none.
 */

static bool check_uuid(char *line)
{
	static const char form[] = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";

	if (strlen(line) != strlen(form))
		return false;
	for (size_t i = 0; line[i]; i++)
		if (form[i] == '-' ? line[i] != '-' : !isxdigit((unsigned char)line[i]))
			return false;
	return true;
}

/* A list of at least one CPU. */
static bool check_cpus(char *line)
{
	return cpulist_count(line) > 0;
}

/* The length of a number such as "0.58"; 0 when there is none. */
static size_t load_length(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	size_t decimals = text[digits] == '.' ? strspn(text + digits + 1, "0123456789") : 0;

	return digits && decimals ? digits + 1 + decimals : 0;
}

/* Three numbers; what follows is cut off. */
static bool check_loadavg(char *line)
{
	for (int i = 0; i < 3; i++) {
		size_t length;

		if (i > 0 && *line++ != ' ')
			return false;
		length = load_length(line);
		if (!length)
			return false;
		line += length;
	}
	if (*line != ' ' && *line != '\0')
		return false;
	*line = '\0';
	return true;
}

/* A word, or the number of threads per core that are in use. */
static bool check_smt(char *line)
{
	static const char *const words[] = { "on", "off", "forceoff", "notsupported",
					     "notimplemented" };
	uint64_t threads;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(line, words[i]) == 0)
			return true;
	return parse_u64(line, &threads);
}

/* "seconds.hundredths", to nanoseconds. */
static bool parse_uptime(const char *line, uint64_t *ret)
{
	uint64_t ns;

	if (!scan_u64(&line, &ns))
		return false;
	line += *line == '.';
	for (int digit = 0; digit < NS_DIGITS; digit++) {
		unsigned value = isdigit((unsigned char)*line) ? (unsigned)(*line++ - '0') : 0;

		if (__builtin_mul_overflow(ns, 10, &ns) || __builtin_add_overflow(ns, value, &ns))
			return false;
	}
	*ret = ns;
	return true;
}

/* A host that has not finished its first boot has a word there instead of an id. */
static bool hash_machine_id(char *line)
{
	if (strlen(line) != MACHINE_ID_LENGTH ||
	    strspn(line, "0123456789abcdef") != MACHINE_ID_LENGTH)
		return false;
	snprintf(line, HOST_LINE_SIZE, "%016" PRIx64,
		 (uint64_t)XXH3_64bits_withSeed(line, MACHINE_ID_LENGTH, MACHINE_ID_SEED));
	return true;
}

static const struct line_fact identity_lines[] = {
	{ FACT_kernel_name, { TREE_PROC, "sys/kernel/ostype" }, NULL, NULL },
	{ FACT_kernel_release, { TREE_PROC, "sys/kernel/osrelease" }, NULL, NULL },
	{ FACT_boot_id, { TREE_PROC, "sys/kernel/random/boot_id" }, check_uuid, NULL },
	{ FACT_online_cpus, { TREE_SYS, "devices/system/cpu/online" }, check_cpus, NULL },
};

static const struct line_fact context_lines[] = {
	{ FACT_kernel_cmdline, { TREE_PROC, "cmdline" }, NULL, NULL },
	{ FACT_loadavg, { TREE_PROC, "loadavg" }, check_loadavg, NULL },
	{ FACT_smt, { TREE_SYS, "devices/system/cpu/smt/control" }, check_smt, NULL },
	{ FACT_thp_enabled, { TREE_SYS, "kernel/mm/transparent_hugepage/enabled" }, NULL, NULL },
	{ FACT_thp_defrag, { TREE_SYS, "kernel/mm/transparent_hugepage/defrag" }, NULL, NULL },
	{ FACT_uptime_ns, { TREE_PROC, "uptime" }, NULL, parse_uptime },
	{ FACT_machine_id_hash, { TREE_ETC, "machine-id" }, hash_machine_id, NULL },
};

/* A line "key: value" of a file that has several. */
struct keyed_fact {
	enum fact_id id;
	const char *key;
	uint64_t unit; /* of a number: bytes, or 1 for pages; 0: it is a text */
};

static const struct keyed_fact memory_facts[] = {
	{ FACT_total_memory_bytes, "MemTotal", 1024 },
	{ FACT_available_memory_bytes, "MemAvailable", 1024 },
	{ FACT_swap_total_bytes, "SwapTotal", 1024 },
	{ FACT_swap_free_bytes, "SwapFree", 1024 },
	{ FACT_hugepages_total, "HugePages_Total", 1 },
	{ FACT_hugepages_free, "HugePages_Free", 1 },
	{ FACT_hugepage_size_bytes, "Hugepagesize", 1024 },
};

static const struct keyed_fact cpu_facts[] = {
	{ FACT_cpu_model, "model name\t", 0 },
	{ FACT_cpu_vendor, "vendor_id\t", 0 },
};

static struct source_tally *context_tally(struct capture *capture)
{
	return &capture->tallies[SOURCE_HOST_CONTEXT];
}

static int read_place(struct capture *capture, struct source_tally *tally,
		      const struct fact_place *place, char ret[HOST_LINE_SIZE])
{
	const struct host *host = capture->host;
	const int trees[] = {
		[TREE_PROC] = host->proc, [TREE_SYS] = host->sys, [TREE_ETC] = host->etc
	};

	return host_line_read(tally, trees[place->tree], place->path, ret);
}

static void set_line(struct capture *capture, struct source_tally *tally,
		     const struct line_fact *fact)
{
	char line[HOST_LINE_SIZE];
	uint64_t number;
	int status = read_place(capture, tally, &fact->place, line);

	if (status == 0 &&
	    ((fact->check && !fact->check(line)) || (fact->parse && !fact->parse(line, &number))))
		status = -EBADMSG;
	if (status < 0)
		fact_set_unread(capture, fact->id, &fact->place, status);
	else if (fact->parse)
		snapshot_set_fact_number(capture->snapshot, fact->id, number);
	else
		snapshot_set_fact_text(capture->snapshot, fact->id, line);
}

/* Sets a number that no file has; in a recording, taskscope-root has it. */
static void set_number(struct capture *capture, enum fact_id id, bool is_known, uint64_t number)
{
	if (is_known)
		snapshot_set_fact_number(capture->snapshot, id, number);
	else
		fact_set_absent(capture, id,
				missing_reason(capture->host, "the kernel does not "
							      "report it"));
}

static void set_namespace(struct capture *capture, enum fact_id id, const char *name)
{
	uint64_t number = 0;
	bool is_known = host_namespace(capture->host, name, &number);

	set_number(capture, id, is_known, number);
}

static void set_clocks(struct capture *capture)
{
	bool is_known = capture->has_clock;

	set_number(capture, FACT_captured_at_unix_ns, is_known, capture->clock.unix_ns);
	set_number(capture, FACT_monotonic_ns, is_known, capture->clock.monotonic_ns);
	set_number(capture, FACT_boottime_ns, is_known, capture->clock.boottime_ns);
}

void host_facts_identify(struct capture *capture)
{
	const struct host *host = capture->host;
	struct snapshot *snapshot = capture->snapshot;
	char arch[128];

	capture->lost_facts = 0;
	for (size_t i = 0; i < ARRAY_SIZE(identity_lines); i++)
		set_line(capture, NULL, &identity_lines[i]);
	if (host_arch(host, arch, sizeof(arch)))
		snapshot_set_fact_text(snapshot, FACT_arch, arch);
	else
		fact_set_absent(capture, FACT_arch, missing_reason(host, strerror(errno)));
	set_number(capture, FACT_page_size, host->page_bytes, host->page_bytes);
	set_number(capture, FACT_clock_ticks, host->clock_ticks, host->clock_ticks);
	set_clocks(capture);
	set_namespace(capture, FACT_pid_namespace, "pid");
	set_namespace(capture, FACT_cgroup_namespace, "cgroup");
	if (host->cgroup.version)
		snapshot_set_fact_text(snapshot, FACT_cgroup_hierarchy, host->cgroup.name);
	else
		fact_set_absent(capture, FACT_cgroup_hierarchy,
				host->live ? "no cgroup hierarchy is mounted" : NOT_RECORDED);
}

/* 0, -ENOKEY when there is no such line, or -EBADMSG. */
static int set_value(struct capture *capture, const char *text, const struct keyed_fact *fact)
{
	size_t length = 0;
	const char *value = task_status_find(text, fact->key, &length);
	char copy[FIRST_CPU_BYTES];
	uint64_t number;

	if (!length)
		return -ENOKEY;
	if (!fact->unit) {
		snprintf(copy, sizeof(copy), "%.*s", (int)length, value);
		snapshot_set_fact_text(capture->snapshot, fact->id, copy);
		return 0;
	}
	if (!scan_u64(&value, &number) || __builtin_mul_overflow(number, fact->unit, &number))
		return -EBADMSG;
	snapshot_set_fact_number(capture->snapshot, fact->id, number);
	return 0;
}

/* `length` is that of the text, or the negative errno of reading it. */
static void set_keyed(struct capture *capture, const struct fact_place *place, const char *text,
		      ssize_t length, const struct keyed_fact *list, size_t count)
{
	source_count(context_tally(capture), length);
	for (size_t i = 0; i < count; i++) {
		int status = length < 0 ? (int)length : -ENODATA;

		if (length > 0)
			status = set_value(capture, text, &list[i]);
		if (status < 0)
			fact_set_unread(capture, list[i].id, place, status);
	}
}

static void set_memory(struct capture *capture)
{
	CLEANUP(proc_buffer_clear) struct proc_buffer buffer = { 0 };
	ssize_t length = proc_read(capture->host->proc, meminfo.path, &buffer);

	set_keyed(capture, &meminfo, buffer.data, length, memory_facts, ARRAY_SIZE(memory_facts));
}

/*
 * A single read: the kernel fills the buffer with whole CPUs and does not format the others.  An
 * empty line ends the first CPU.
 */
static ssize_t read_first_cpu(const struct host *host, char buffer[FIRST_CPU_BYTES])
{
	CLEANUP(close_fd) int fd = file_open_below(host->proc, cpuinfo.path, O_RDONLY | O_NONBLOCK);
	ssize_t length;
	char *end;

	if (fd < 0)
		return fd;
	length = read(fd, buffer, FIRST_CPU_BYTES - 1);
	if (length < 0)
		return -errno;
	buffer[length] = '\0';
	end = strstr(buffer, "\n\n");
	if (end)
		*end = '\0';
	return length;
}

static void set_cpu(struct capture *capture)
{
	char buffer[FIRST_CPU_BYTES];
	ssize_t length = read_first_cpu(capture->host, buffer);

	set_keyed(capture, &cpuinfo, buffer, length, cpu_facts, ARRAY_SIZE(cpu_facts));
}

/* A kernel without NUMA nodes has all CPUs on one node. */
static void set_nodes(struct capture *capture)
{
	const struct host *host = capture->host;
	char list[HOST_LINE_SIZE];
	int status = read_place(capture, context_tally(capture), &nodes, list);
	unsigned count = 0;

	if (status == 0)
		count = cpulist_count(list);
	else if (host->live && cpuset_count(&host->online) &&
		 faccessat(host->sys, "devices/system/node", F_OK, 0) < 0 && errno == ENOENT)
		count = 1;
	if (count)
		snapshot_set_fact_number(capture->snapshot, FACT_numa_nodes, count);
	else
		fact_set_unread(capture, FACT_numa_nodes, &nodes, status ? status : -EBADMSG);
}

/* The switch is newer than the accounting.  If a kernel lacks it, only the kernel's options say. */
static void set_delay_accounting(struct capture *capture)
{
	const struct host *host = capture->host;
	const char *known = NULL;
	uint64_t on;
	bool built;

	if (host_read_number(host->proc, "sys/kernel/task_delayacct", &on))
		known = on ? "on" : "runtime-off";
	else if (host_kernel_option(host, "CONFIG_TASK_DELAY_ACCT", &built) && !built)
		known = "config-off";
	if (known)
		snapshot_set_fact_text(capture->snapshot, FACT_task_delayacct, known);
	else
		fact_set_absent(capture, FACT_task_delayacct,
				missing_reason(host, "this kernel has no kernel.task_delayacct"));
}

/* The I/O counters of a process need extended accounting: if they are there, it is on. */
static void set_extended_accounting(struct capture *capture)
{
	const struct host *host = capture->host;
	const char *known = "unknown";
	bool on;

	if (host->live && capture->gates[GATE_TASK_IO_ACCOUNTING].open)
		known = "on";
	else if (host_kernel_option(host, "CONFIG_TASK_XACCT", &on))
		known = on ? "on" : "off";
	snapshot_set_fact_text(capture->snapshot, FACT_config_task_xacct, known);
}

void host_facts_describe(struct capture *capture)
{
	for (size_t i = 0; i < ARRAY_SIZE(context_lines); i++)
		set_line(capture, context_tally(capture), &context_lines[i]);
	set_memory(capture);
	set_cpu(capture);
	set_nodes(capture);
	set_delay_accounting(capture);
	set_extended_accounting(capture);
}
