/* SPDX-License-Identifier: MIT */
/*
 * record: samples a host again and again, and keeps what happens on it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/config.h"
#include "cli/args/store_args.h"
#include "cli/args/threshold_args.h"
#include "record/record_paths.h"
#include "record/recorder.h"
#include "render/page.h"

#define DAY_NS (86400 * NS_PER_SECOND)
#define INTERVAL_LEAST_NS (100 * NS_PER_MS)
#define INTERVAL_MOST_NS (3600 * NS_PER_SECOND)

static struct {
	const char *store, *jsonl, *socket, *cgroup, *source, *events, *on_anomaly, *config;
	struct option_number interval, duration, tree, events_per_second;
	struct option_number keep_raw, keep_minutes, keep_events, keep_outcomes, keep_bytes;
	struct option_number jsonl_bytes, jsonl_files;
	struct option_list thresholds;
	unsigned syscalls;
	bool no_socket, no_events, activity, no_activity, gpu, quiet, print_config;
} args = {
	.interval = { .value = 5 * NS_PER_SECOND },
	.events_per_second = { .value = 5000 },
	.keep_raw = { .value = DAY_NS },
	.keep_minutes = { .value = 7 * DAY_NS },
	.keep_events = { .value = 30 * DAY_NS },
	.keep_outcomes = { .value = 365 * DAY_NS },
	.keep_bytes = { .value = 2ull << 30 },
	.jsonl_bytes = { .value = 50ull << 20 },
	.jsonl_files = { .value = 2 },
};

/* clang-format off */
static const struct option options[] = {
	{ 0, "store", OPTION_TEXT, &args.store, "FILE", "the recording (default: in /var/lib/taskscope, or in your state folder)", NULL },
	{ 'i', "interval", OPTION_DURATION, &args.interval, "TIME", "time between samples (default: 5s)", NULL },
	{ 'd', "duration", OPTION_DURATION, &args.duration, "TIME", "end after this time", NULL },
	{ 0, "tree", OPTION_NUMBER, &args.tree, "PID", "only this process and all that it starts", NULL },
	{ 'c', "cgroup", OPTION_TEXT, &args.cgroup, "PATH", "only tasks in this cgroup and below", NULL },
	{ 0, "jsonl", OPTION_TEXT, &args.jsonl, "FILE", "also write JSON lines; - is standard output", NULL },
	{ 0, "jsonl-bytes", OPTION_BYTES, &args.jsonl_bytes, "SIZE", "begin a new file of lines at this size (default: 50MiB)", NULL },
	{ 0, "jsonl-files", OPTION_NUMBER, &args.jsonl_files, "N", "keep so many older files of lines (default: 2)", NULL },
	{ 0, "on-anomaly", OPTION_TEXT, &args.on_anomaly, "COMMAND", "run this, without a shell, with the JSON of each anomaly on its standard input", NULL },
	{ 0, "threshold", OPTION_LIST, &args.thresholds, "NAME=VALUE", "change what counts as an anomaly; --print-config lists the names", threshold_words },
	{ 0, "socket", OPTION_TEXT, &args.socket, "FILE", "answer other programs here (default: in /run/taskscope, or in your runtime folder)", NULL },
	{ 0, "no-socket", OPTION_FLAG, &args.no_socket, NULL, "do not answer other programs", NULL },
	{ 0, "source", OPTION_TEXT, &args.source, "WAY", "how tasks are listed", "auto|bpf|procfs" },
	{ 0, "events", OPTION_TEXT, &args.events, "WAY", "how events of processes are found", "auto|bpf|connector|polling" },
	{ 0, "no-events", OPTION_FLAG, &args.no_events, NULL, "record no events of processes", NULL },
	{ 0, "activity", OPTION_FLAG, &args.activity, NULL, "record what active threads do, each second (default, where BPF works)", NULL },
	{ 0, "no-activity", OPTION_FLAG, &args.no_activity, NULL, "do not record that", NULL },
	{ 0, "syscalls", OPTION_SET, &args.syscalls, "WAY", "record what each process does with system calls, by minute: from the kernel, which stops nobody, or by strace, which stops a thread at each call and needs --tree or --cgroup", "bpf|strace" },
	{ 0, "gpu", OPTION_FLAG, &args.gpu, NULL, "also ask about GPUs, and what processes use of them", NULL },
	{ 0, "events-per-second", OPTION_NUMBER, &args.events_per_second, "N", "keep so many one by one, and count further ones by program (default: 5000)", NULL },
	{ 0, "keep-raw", OPTION_DURATION, &args.keep_raw, "TIME", "keep full samples this long (default: 24h)", NULL },
	{ 0, "keep-minutes", OPTION_DURATION, &args.keep_minutes, "TIME", "keep figures of each minute this long (default: 7d)", NULL },
	{ 0, "keep-events", OPTION_DURATION, &args.keep_events, "TIME", "keep events this long (default: 30d)", NULL },
	{ 0, "keep-outcomes", OPTION_DURATION, &args.keep_outcomes, "TIME", "keep jobs and anomalies this long (default: 365d)", NULL },
	{ 0, "keep-bytes", OPTION_BYTES, &args.keep_bytes, "SIZE", "keep at most this much (default: 2GiB)", NULL },
	{ 0, "config", OPTION_TEXT, &args.config, "FILE", "read options from this file (default: " RECORD_CONFIG ")", NULL },
	{ 0, "print-config", OPTION_FLAG, &args.print_config, NULL, "print the options in effect as such a file, and end", NULL },
	{ 'q', "quiet", OPTION_FLAG, &args.quiet, NULL, "say nothing unless something fails to begin", NULL },
	{ 0 },
};
/* clang-format on */

static void say(const char *sentence)
{
	struct page page;

	if (args.quiet)
		return;
	page_open(&page, stderr);
	fprintf(page.out, "taskscope: %s\n", sentence);
	(void)page_close(&page);
}

/* Where two flags exclude each other, the one on the command line wins over the one in the file. */
static int read_config(struct text *text, struct error *error)
{
	const char *path = args.config ? args.config : RECORD_CONFIG;
	bool activity = args.activity, no_activity = args.no_activity;
	int status = config_read(path, options, text, error);

	if (activity != no_activity) {
		args.activity = activity;
		args.no_activity = no_activity;
	}
	if (status == -ENOENT && args.config)
		return error_set(error, status, "there is no file '%s'", path);
	return status == -ENOENT ? 0 : status;
}

static int choose_paths(char store[PATH_MAX], char socket[PATH_MAX], struct error *error)
{
	int status = args.store ? store_args_check(args.store, error) : record_store_path(store);

	if (args.store && status < 0)
		return status;
	if (status < 0)
		return error_set(
			error, status,
			"there is no place for the recording: give --store FILE, or set HOME");
	if (!args.store)
		args.store = store;
	/* Without a runtime folder there is no default socket, which does not keep us from recording. */
	if (!args.socket && !args.no_socket && record_socket_path(socket) == 0)
		args.socket = socket;
	return 0;
}

static enum record_syscalls syscalls(void)
{
	if (!args.syscalls)
		return RECORD_SYSCALLS_NOT;
	return args.syscalls & 1 ? RECORD_SYSCALLS_BPF : RECORD_SYSCALLS_STRACE;
}

static int check(struct error *error)
{
	if (args.interval.value < INTERVAL_LEAST_NS || args.interval.value > INTERVAL_MOST_NS)
		return error_set(error, -EINVAL, "--interval is from 100ms to 1h");
	if (args.duration.given && args.duration.value == 0)
		return error_set(error, -EINVAL, "--duration is more than 0");
	if (args.tree.given && (args.tree.value == 0 || args.tree.value > INT_MAX))
		return error_set(error, -EINVAL, "--tree takes the number of a process");
	if (args.activity && args.no_activity)
		return error_set(error, -EINVAL, "--activity and --no-activity exclude each other");
	if (syscalls() == RECORD_SYSCALLS_STRACE && !args.tree.given && !args.cgroup)
		return error_set(error, -EINVAL,
				 "--syscalls=strace needs --tree or --cgroup: it stops each thread "
				 "at each call");
	if (args.tree.given && args.cgroup)
		return error_set(error, -EINVAL, "--tree and --cgroup exclude each other");
	if (args.tree.given && args.no_events)
		return error_set(error, -EINVAL,
				 "--tree needs events, to know which processes belong to it");
	if (args.jsonl_bytes.value < 1 << 20)
		return error_set(error, -EINVAL, "--jsonl-bytes is at least 1MiB");
	if (args.jsonl_files.value > 100)
		return error_set(error, -EINVAL, "--jsonl-files is at most 100");
	if (args.keep_bytes.value < 1 << 20)
		return error_set(error, -EINVAL, "--keep-bytes is at least 1MiB");
	return 0;
}

/* NULL for what was not given or is "auto". */
static const char *chosen(const char *word)
{
	return word && strcmp(word, "auto") != 0 ? word : NULL;
}

static enum task_lister lister(void)
{
	const char *word = chosen(args.source);

	if (!word)
		return LIST_AUTO;
	return strcmp(word, "bpf") == 0 ? LIST_BPF : LIST_PROCFS;
}

static struct recorder_options recorder_options(void)
{
	return (struct recorder_options){
		.store = args.store,
		.jsonl = args.jsonl,
		.socket = args.no_socket ? NULL : args.socket,
		.interval_ns = args.interval.value,
		.duration_ns = args.duration.value,
		.tree_pid = (int32_t)args.tree.value,
		.cgroup = args.cgroup,
		.lister = lister(),
		.events = chosen(args.events),
		.no_events = args.no_events,
		.no_activity = args.no_activity,
		.syscalls = syscalls(),
		.gpu = args.gpu,
		.events_per_second = (uint32_t)args.events_per_second.value,
		.retention = { args.keep_raw.value, args.keep_minutes.value, args.keep_events.value,
			       args.keep_outcomes.value, args.keep_bytes.value },
		.jsonl_bytes = args.jsonl_bytes.value,
		.jsonl_files = (unsigned)args.jsonl_files.value,
		.anomalies = anomaly_defaults,
		.on_anomaly = args.on_anomaly,
		.note = say,
	};
}

int verb_record(char **words, int count, struct error *error)
{
	CLEANUP(text_free) struct text text = { 0 };
	char store[PATH_MAX], socket[PATH_MAX];
	struct recorder_options recorder;
	struct option_list thresholds = args.thresholds;
	int status;

	(void)words;
	(void)count;
	args.thresholds.count = 0; /* those of the file are read first, and stay unless changed */
	status = read_config(&text, error);
	if (status == 0)
		status = choose_paths(store, socket, error);
	if (status == 0)
		status = check(error);
	if (status < 0)
		return status;
	recorder = recorder_options();
	status = threshold_args_read(&args.thresholds, &recorder.anomalies, error);
	if (status == 0)
		status = threshold_args_read(&thresholds, &recorder.anomalies, error);
	if (status == 0 && args.print_config) {
		args.thresholds.count = 0;
		args.activity = !args.no_activity;
		config_print(stdout, options);
		threshold_args_print(stdout, &recorder.anomalies);
		return EXIT_DONE;
	}
	return status < 0 ? status : recorder_run(&recorder, error);
}

const struct command command_record = {
	.name = "record",
	.arguments = "",
	.summary = "sample the host again and again, and keep what happens on it",
	.description =
		"Takes a snapshot of every thread at each interval, on absolute deadlines, and\n"
		"notes when processes begin, execute, get deadly signals and end, with what they\n"
		"used. All of it goes into one SQLite file that people can query, and any instant\n"
		"of it can be used wherever a snapshot can: `taskscope show FILE@10:00`. Anomalies\n"
		"(memory leaks, runaway processes, stalls, OOM kills and others) are episodes with\n"
		"a beginning and an end. Each second it also notes what active threads do, and in\n"
		"which function of the kernel: `taskscope activity` sums it.\n"
		"\n"
		"It runs in the foreground until Ctrl-C, -d, or the end of --tree. Old data is\n"
		"dropped by age and size. Its own cost is bounded, and it says what it left out to\n"
		"stay within the bounds. It goes on when the disk is full or a source fails, and\n"
		"counts what was lost.\n"
		"\n"
		"Options can also be in a file, " RECORD_CONFIG " by default: one line for each,\n"
		"NAME = VALUE. Those of the command line come first.",
	.examples = "taskscope record\tthe whole host, every 5 seconds, until Ctrl-C\n"
		    "taskscope record --store r.db -i 1s -d 10m\tten minutes, every second\n"
		    "taskscope record --store r.db --tree 1234\ta process and all that it starts\n"
		    "taskscope record --on-anomaly /usr/local/bin/page-me\ttell someone\n"
		    "taskscope record --print-config\tall settings, as a file to begin with",
	.options = options,
	.words_max = 0,
};
