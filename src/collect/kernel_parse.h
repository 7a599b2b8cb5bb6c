/* SPDX-License-Identifier: MIT */
/*
 * Parses small files of the kernel, by the few formats that they have: those of a cgroup, the
 * host's pressure and its own figures, and the memory of a process by kind of page.
 *
 * Parsers never fail on a text: a line that makes no sense is left out and counted.  Keys are
 * short and of plain characters, so that they can become names of readings.
 */
#ifndef COLLECT_KERNEL_PARSE_H
#define COLLECT_KERNEL_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "model/snapshot/sheet.h"

enum kernel_format {
	KERNEL_NUMBER,
	KERNEL_SIGNED,
	KERNEL_LIMIT,	/* a number, or "max" */
	KERNEL_PAIR,	/* of cpu.max: a limit and the period that it is for */
	KERNEL_KEYS,	/* lines "key number" */
	KERNEL_NESTED,	/* lines "device key=number ..." */
	KERNEL_DEVICES, /* lines "device key number" */
	KERNEL_LIST,	/* numbers and ranges, kept as text */
	/*
	 * Lines "some key=number ..." and "full key=number ...": only the keys of pressure_keys.
	 * Averages become hundredths of a percent.  A number that is too large becomes the largest
	 * that fits.  What does not parse is left out without being counted, unless it is all.
	 */
	KERNEL_PRESSURE,
	KERNEL_KIB,	/* lines "key: number kB"; other lines are left out without being counted */
	KERNEL_STAT,	/* of /proc/stat; "cpu user", "cpu0 idle", "ctxt", "softirq RCU" */
	KERNEL_LOADS,	/* of loadavg, in hundredths: "1min"; "running", "tasks" */
	KERNEL_MEMINFO, /* lines "key: number kB" and "key: number" */
	/*
	 * Lines of numbers about a device: "vda read_bytes", "eth0 rx_bytes".  Partitions, and
	 * devices that have done nothing since they exist, are left out.
	 */
	KERNEL_DISKS,
	KERNEL_INTERFACES,
	KERNEL_SOCKETS,	   /* lines "protocol: key number ..." */
	KERNEL_INTERRUPTS, /* by line, summed over the CPUs; those that never came are left out */
	KERNEL_FORMAT_COUNT,
};

#define PRESSURE_KEYS 8
#define PRESSURE_FULL 4 /* the first key of the second line */

/* "some avg10" to "full total". */
extern const char *const pressure_keys[PRESSURE_KEYS];

/* Longest key, with its NUL. */
#define KERNEL_KEY_SIZE 80

struct kernel_value {
	char key[KERNEL_KEY_SIZE]; /* "usage_usec", "8:0 rbytes"; "" for a file of one value */
	enum cell_state state;	   /* never CELL_ABSENT */
	uint64_t number;	   /* a signed one is two's complement */
	enum raw_unit raw;	   /* what metric_from_raw() needs, where the format tells */
	const char *text;	   /* of CELL_TEXT; in the text that is parsed */
	size_t length;
};

/* Where values go.  take() returns 0, or a negative errno that ends the parsing. */
struct kernel_sink {
	int (*take)(struct kernel_sink *sink, const struct kernel_value *value);
};

/*
 * Gives each value of a text, which is ended by a NUL, to the sink.  Returns how many pieces of
 * the text made no sense, 1 for a file of keys or of pressure without any value, or the error of
 * take().
 */
int kernel_parse(enum kernel_format format, const char *text, struct kernel_sink *sink);

#endif
