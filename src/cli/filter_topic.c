/* SPDX-License-Identifier: MIT */
/* The page about filters. */
#include "cli/command.h"

const struct command topic_filter = {
	.name = "filter",
	.is_topic = true,
	.arguments = "--filter 'NAME OPERATOR VALUE ...'",
	.summary = "which tasks are meant: one language for all verbs, live and on files",
	.description =
		"A filter is a list of terms with blanks between them, which must all hold:\n"
		"pcomm=nginx* user!=root rss_bytes>1G. Several --filter are one filter.\n"
		"\n"
		"NAME is "
#define FILTER_FIELD(id, text, number, path, scope, absent, help) #id " (" help "), "
#include "analyze/filter/filter_fields.def"
		"or a metric; `taskscope metrics` lists these.\n"
		"\n"
		"OPERATOR is one of = != > < >= <=. Names, also those of metrics such as state=D\n"
		"or policy=SCHED_FIFO, have only = and !=.\n"
		"\n"
		"VALUE of a name is a glob that matches all of it: * is anything, ? one character,\n"
		"[a-z] one of a set. In paths (cgroup, exe) * stays within a segment, and ** is\n"
		"anything. A name that is spelled like the value matches, too, whatever is in it.\n"
		"VALUE of a metric is a number in its unit, or with one: 5s, 250ms, 10MiB, 1G, 3K,\n"
		"20%; of bytes, K M G T are KiB MiB GiB TiB. Several values with commas between\n"
		"them are any of these: user=www,root; with != none of these. A value with blanks\n"
		"or commas is written in quotes: comm=\"my name\"; a backslash makes a quote part of it.\n"
		"\n"
		"A filter judges threads. What belongs to the process, such as its name, user and\n"
		"memory, is the same for each of its threads. Counters are those of the thread since\n"
		"its start; in an interval (show -d, compare A..B) they are what was done in it.\n"
		"\n"
		"A value that is absent matches nothing, not even !=. How many tasks were left out\n"
		"for that alone is told below the table, with the reason. What the data can never\n"
		"have, such as cpu in a single snapshot, is an error.\n"
		"\n"
		"-p 12,nginx is short for process=12,nginx, -u LIST for user=LIST, and -c PATH for\n"
		"that cgroup and all below it. A capture reads only what -p and -c name. Where a\n"
		"process is meant, a name stands for all processes that are called so, or else\n"
		"match it as a glob, but never for taskscope itself and what it was started from.",
	.examples =
		"taskscope show r.db@10:00 --filter 'cgroup=/system.slice/** rss_bytes>100M'\tlarge services at ten\n"
		"taskscope show -d 1s --filter 'cpu>5' -g thread\tbusy threads now\n"
		"taskscope show --filter 'state=D' -g thread -m '*_delay_total_ns'\twho cannot be interrupted\n"
		"taskscope compare a.tscope b.tscope --filter 'tree=1234'\ta process and all that it started\n"
		"taskscope attach --filter 'cmd=*--config*prod*' -d 10s\tby command line",
};
