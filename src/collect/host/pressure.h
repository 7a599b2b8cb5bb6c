/* SPDX-License-Identifier: MIT */
/*
 * Pressure stall information: how long tasks waited for a resource, which the kernel reports for
 * the host (proc/pressure) and for each cgroup (*.pressure).
 *
 * A file has a line for the time in which some tasks waited (some) and one for the time in which
 * all did (full); the file for interrupts has only the second.  collect/kernel_parse.h parses
 * them.  Averages are kept in hundredths of a percent, totals in microseconds.  Each value is
 * present or absent on its own: one that is missing in a line, or does not parse, is absent and
 * never 0.
 */
#ifndef COLLECT_PRESSURE_H
#define COLLECT_PRESSURE_H

struct capture;
struct host;
struct snapshot;

/*
 * Why "cpu full" is not kept for a whole host, nor for the root cgroup, which is the same:
 * whenever a task waits for a CPU, another one runs.  Kernels write 0 there, or (5.13 to 5.17)
 * numbers without meaning, or nothing.
 */
#define PRESSURE_NO_CPU_FULL                                                                       \
	"not defined for a whole host: while a task waits for a CPU, another runs"

/* What it means when an existing file gives -EOPNOTSUPP. */
#define PRESSURE_OFF "pressure accounting is off; booting with psi=1 turns it on"

/* Reads the host's pressure into its sheet.  0 or -ENOMEM. */
int pressure_collect(struct capture *capture);
/* The same for a snapshot without a capture.  0 or -ENOMEM. */
int pressure_read(const struct host *host, struct snapshot *snapshot);

#endif
