/*
 * Facts about the host, each from the file that has it.
 */
#include "collect/host_context.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/file.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/host_line.h"
#include "collect/proc_file.h"
#include "collect/proc_parse.h"

#define NS_DIGITS 9
/* The first CPU's part of cpuinfo; the whole file grows with the number of CPUs. */
#define FIRST_CPU_BYTES 4096
/* Makes our hash of a machine id another one than anybody else's. */
#define MACHINE_ID_SEED UINT64_C(0x7461736b73636f70)
#define MACHINE_ID_LENGTH 32

enum tree {
	TREE_PROC,
	TREE_SYS,
};

struct line_fact {
	enum fact_id id;
	enum tree tree;
	const char *path;
	unsigned words; /* how many of the line are kept; 0 for all */
};

static const struct line_fact identity_lines[] = {
	{ FACT_kernel_name, TREE_PROC, "sys/kernel/ostype", 0 },
	{ FACT_kernel_release, TREE_PROC, "sys/kernel/osrelease", 0 },
	{ FACT_boot_id, TREE_PROC, "sys/kernel/random/boot_id", 0 },
	{ FACT_online_cpus, TREE_SYS, "devices/system/cpu/online", 0 },
};

static const struct line_fact context_lines[] = {
	{ FACT_kernel_cmdline, TREE_PROC, "cmdline", 0 },
	{ FACT_loadavg, TREE_PROC, "loadavg", 3 },
	{ FACT_smt, TREE_SYS, "devices/system/cpu/smt/control", 0 },
	{ FACT_thp_enabled, TREE_SYS, "kernel/mm/transparent_hugepage/enabled", 0 },
	{ FACT_thp_defrag, TREE_SYS, "kernel/mm/transparent_hugepage/defrag", 0 },
};

struct memory_fact {
	enum fact_id id;
	const char *key;
	uint64_t unit; /* bytes, or 1 for a number of pages */
};

static const struct memory_fact memory_facts[] = {
	{ FACT_total_memory_bytes, "MemTotal", 1024 },
	{ FACT_available_memory_bytes, "MemAvailable", 1024 },
	{ FACT_swap_total_bytes, "SwapTotal", 1024 },
	{ FACT_swap_free_bytes, "SwapFree", 1024 },
	{ FACT_hugepages_total, "HugePages_Total", 1 },
	{ FACT_hugepages_free, "HugePages_Free", 1 },
	{ FACT_hugepage_size_bytes, "Hugepagesize", 1024 },
};

struct cpu_fact {
	enum fact_id id;
	const char *key;
};

static const struct cpu_fact cpu_facts[] = {
	{ FACT_cpu_model, "model name" },
	{ FACT_cpu_vendor, "vendor_id" },
};

static struct source_tally *context_tally(struct capture *capture)
{
	return &capture->tallies[SOURCE_HOST_CONTEXT];
}

static void keep_words(char *line, unsigned words)
{
	for (; words; words--) {
		line += strspn(line, " ");
		line += strcspn(line, " ");
	}
	*line = '\0';
}

static void set_line(struct capture *capture, struct source_tally *tally,
		     const struct line_fact *fact)
{
	const struct host *host = capture->host;
	char line[HOST_LINE_SIZE];

	if (!host_line_read(tally, fact->tree == TREE_PROC ? host->proc : host->sys, fact->path,
			    line))
		return;
	if (fact->words)
		keep_words(line, fact->words);
	snapshot_set_fact_text(capture->snapshot, fact->id, line);
}

static void set_namespace(struct capture *capture, enum fact_id id, const char *name)
{
	uint64_t number;

	if (host_namespace(capture->host, name, &number))
		snapshot_set_fact_number(capture->snapshot, id, number);
}

static void set_clocks(struct capture *capture)
{
	struct snapshot *snapshot = capture->snapshot;

	if (!capture->has_clock)
		return;
	snapshot_set_fact_number(snapshot, FACT_captured_at_unix_ns, capture->clock.unix_ns);
	snapshot_set_fact_number(snapshot, FACT_monotonic_ns, capture->clock.monotonic_ns);
	snapshot_set_fact_number(snapshot, FACT_boottime_ns, capture->clock.boottime_ns);
}

void host_facts_identify(struct capture *capture)
{
	const struct host *host = capture->host;
	struct snapshot *snapshot = capture->snapshot;
	char arch[128];

	for (size_t i = 0; i < ARRAY_SIZE(identity_lines); i++)
		set_line(capture, NULL, &identity_lines[i]);
	if (host_arch(host, arch, sizeof(arch)))
		snapshot_set_fact_text(snapshot, FACT_arch, arch);
	if (host->page_bytes)
		snapshot_set_fact_number(snapshot, FACT_page_size, host->page_bytes);
	if (host->clock_ticks)
		snapshot_set_fact_number(snapshot, FACT_clock_ticks, host->clock_ticks);
	set_clocks(capture);
	set_namespace(capture, FACT_pid_namespace, "pid");
	set_namespace(capture, FACT_cgroup_namespace, "cgroup");
	if (host->cgroup.version)
		snapshot_set_fact_text(snapshot, FACT_cgroup_hierarchy, host->cgroup.name);
}

static void set_memory(struct capture *capture)
{
	CLEANUP(proc_buffer_clear) struct proc_buffer buffer = { 0 };
	ssize_t length = proc_read(capture->host->proc, "meminfo", &buffer);

	source_count(context_tally(capture), length);
	for (size_t i = 0; length > 0 && i < ARRAY_SIZE(memory_facts); i++) {
		const struct memory_fact *fact = &memory_facts[i];
		size_t unused;
		const char *value = proc_find_value(buffer.data, fact->key, &unused);
		uint64_t number;

		if (value && scan_u64(&value, &number) &&
		    !__builtin_mul_overflow(number, fact->unit, &number))
			snapshot_set_fact_number(capture->snapshot, fact->id, number);
	}
}

/* The value of a line "key<tab>: value"; an empty line ends the first CPU. */
static const char *find_cpu_value(const char *text, const char *key, size_t *ret_length)
{
	size_t key_length = strlen(key);

	while (*text && *text != '\n') {
		if (strncmp(text, key, key_length) == 0 &&
		    text[key_length + strspn(text + key_length, " \t")] == ':') {
			text = strchr(text, ':') + 1;
			text += strspn(text, " \t");
			*ret_length = strcspn(text, "\n");
			return text;
		}
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return NULL;
}

/* What fits one read: the kernel fills it with whole CPUs and looks at no others. */
static ssize_t read_first_cpu(const struct host *host, char buffer[FIRST_CPU_BYTES])
{
	CLEANUP(close_fd) int fd = file_open_below(host->proc, "cpuinfo", O_RDONLY | O_NONBLOCK);
	ssize_t length;

	if (fd < 0)
		return fd;
	length = read(fd, buffer, FIRST_CPU_BYTES - 1);
	if (length < 0)
		return -errno;
	buffer[length] = '\0';
	return length;
}

static void set_cpu(struct capture *capture)
{
	char buffer[FIRST_CPU_BYTES];
	ssize_t length = read_first_cpu(capture->host, buffer);

	source_count(context_tally(capture), length);
	for (size_t i = 0; length > 0 && i < ARRAY_SIZE(cpu_facts); i++) {
		size_t value_length;
		const char *value = find_cpu_value(buffer, cpu_facts[i].key, &value_length);
		char text[FIRST_CPU_BYTES];

		if (!value || !value_length)
			continue;
		snprintf(text, sizeof(text), "%.*s", (int)value_length, value);
		snapshot_set_fact_text(capture->snapshot, cpu_facts[i].id, text);
	}
}

/* A kernel that knows no nodes has its CPUs all on one. */
static void set_nodes(struct capture *capture)
{
	const struct host *host = capture->host;
	char list[HOST_LINE_SIZE];
	unsigned count = 0;

	if (host_line_read(context_tally(capture), host->sys, "devices/system/node/has_cpu", list))
		count = cpulist_count(list);
	else if (host->live && cpuset_count(&host->online) &&
		 faccessat(host->sys, "devices/system/node", F_OK, 0) < 0 && errno == ENOENT)
		count = 1;
	if (count)
		snapshot_set_fact_number(capture->snapshot, FACT_numa_nodes, count);
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

static void set_uptime(struct capture *capture)
{
	char line[HOST_LINE_SIZE];
	uint64_t ns;

	if (host_line_read(context_tally(capture), capture->host->proc, "uptime", line) &&
	    parse_uptime(line, &ns))
		snapshot_set_fact_number(capture->snapshot, FACT_uptime_ns, ns);
}

/* A host that was never started fully has a word there instead of an id. */
static void set_machine_id_hash(struct capture *capture)
{
	char id[HOST_LINE_SIZE];
	char hash[17];

	if (!host_line_read(context_tally(capture), capture->host->etc, "machine-id", id) ||
	    strlen(id) != MACHINE_ID_LENGTH || strspn(id, "0123456789abcdef") != MACHINE_ID_LENGTH)
		return;
	snprintf(hash, sizeof(hash), "%016" PRIx64,
		 (uint64_t)XXH3_64bits_withSeed(id, MACHINE_ID_LENGTH, MACHINE_ID_SEED));
	snapshot_set_fact_text(capture->snapshot, FACT_machine_id_hash, hash);
}

/* A kernel may lack the switch, which is younger than the accounting: only its options tell. */
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
}

/* The I/O counters of a process need extended accounting, so they prove it. */
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
	set_uptime(capture);
	set_machine_id_hash(capture);
	set_delay_accounting(capture);
	set_extended_accounting(capture);
}
