/* SPDX-License-Identifier: MIT */
/*
 * Pressure stall information: how long tasks waited for a resource, which the kernel reports for
 * the host (proc/pressure) and for each cgroup (*.pressure).
 *
 * A file has a line for the time in which some tasks waited (some) and one for the time in which
 * all did (full); the file for interrupts has only the second.  Averages are kept in hundredths of
 * a percent, totals in microseconds.  Each value is present or absent on its own: one that is
 * missing in a line, or does not parse, is absent and never 0.
 */
#ifndef COLLECT_PRESSURE_H
#define COLLECT_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/snapshot/sheet.h"

struct capture;
struct host;
struct snapshot;

enum pressure_line {
	PRESSURE_SOME,
	PRESSURE_FULL,
	PRESSURE_LINE_COUNT,
};

enum pressure_key {
	PRESSURE_AVG10,
	PRESSURE_AVG60,
	PRESSURE_AVG300,
	PRESSURE_TOTAL,
	PRESSURE_KEY_COUNT,
};

struct pressure {
	uint64_t values[PRESSURE_LINE_COUNT][PRESSURE_KEY_COUNT];
	bool present[PRESSURE_LINE_COUNT][PRESSURE_KEY_COUNT];
};

/*
 * Why "cpu full" is not kept for a whole host, nor for the root cgroup, which is the same:
 * whenever a task waits for a CPU, another one runs.  Kernels write 0 there, or (5.13 to 5.17)
 * numbers without meaning, or nothing.
 */
#define PRESSURE_NO_CPU_FULL                                                                       \
	"not defined for a whole host: while a task waits for a CPU, another runs"

/* What it means when an existing file gives -EOPNOTSUPP. */
#define PRESSURE_OFF "pressure accounting is off; booting with psi=1 turns it on"

/*
 * Parses a pressure file's text, ended by a NUL.  Numbers that do not fit become the largest that
 * does.
 */
void pressure_parse(const char *text, struct pressure *ret);

/* Whether anything at all is present. */
bool pressure_any(const struct pressure *pressure);

/* Makes one line absent. */
void pressure_drop_line(struct pressure *pressure, enum pressure_line line);

/*
 * Sets the cells of a row that are present, in columns "PREFIX some avg10" to
 * "PREFIX full total".  The prefix is "cpu.pressure" for a cgroup's row and
 * "pressure cpu" for the host's.  Errors as sheet_set().
 */
int pressure_store(const struct pressure *pressure, struct sheet *sheet, uint32_t row,
		   const char *prefix);

/* The name of one of these columns. */
void pressure_name(const char *prefix, enum pressure_line line, enum pressure_key key,
		   char ret[SHEET_NAME_SIZE]);

/*
 * Sets the reason in each column of a line whose values are missing.  Errors as
 * sheet_set_absent().
 */
int pressure_set_absent(struct sheet *sheet, const char *prefix, enum pressure_line line,
			const char *reason);

/* Reads the host's pressure into its sheet.  0 or -ENOMEM. */
int pressure_collect(struct capture *capture);
/* The same for a snapshot without a capture.  0 or -ENOMEM. */
int pressure_read(const struct host *host, struct snapshot *snapshot);

#endif
