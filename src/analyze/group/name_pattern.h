/* SPDX-License-Identifier: MIT */
/*
 * Turns names into patterns, so that "worker-1" and "worker-2" are one kind of
 * thing.  What varies from one instance to the next becomes a placeholder:
 *
 *	{N}	a number
 *	{H}	hexadecimal digits, at least eight of them; fewer are a name ("cc1", "cafe1")
 *	{I}	an id: a UUID, hexadecimal of 12, 32, 40 or 64 digits, the id of a pod
 *		or of a transient unit, the instance of a systemd service
 *
 * Everything else is kept as it is, byte for byte.  The same name always gives
 * the same pattern; a longer id never splits a template that contains a shorter
 * one.
 */
#ifndef ANALYZE_NAME_PATTERN_H
#define ANALYZE_NAME_PATTERN_H

struct text;

enum name_rules {
	NAME_IS_PATH = 1,   /* a cgroup path: systemd's instances are ids too */
	NAME_BY_CTPROF = 2, /* two hexadecimal digits are enough when one is below ten */
};

/*
 * Appends the pattern of a process's or thread's name, or of a path.  A kernel
 * worker that runs ("kworker/0:1+events") has the same pattern as one that
 * rests ("-events").
 */
void name_pattern(const char *name, unsigned rules, struct text *out);

#endif
