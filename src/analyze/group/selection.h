/* SPDX-License-Identifier: MIT */
/*
 * The metrics that the user picked, in the order picked, each once.
 *
 *	run_time_ns,majflt,*_delay_total_ns
 *
 * Each word is a metric's name, or a glob over all names, which gives its
 * metrics in table order.
 */
#ifndef ANALYZE_SELECTION_H
#define ANALYZE_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"

struct error;

/* The names that sections_parse() takes, as help shows them, in the order of the enum. */
#define SECTION_NAMES                                                                                   \
	"identity, scheduling, io, memory, delays, heap, scopes, waits, gpu, cgroups, limits, memory.stat, " \
	"memory.events, pressure, host, host-usage, host-details, all"
#define ALL_SECTIONS ((1u << SECTION_COUNT) - 1)
/* Sections that have only readings, no metrics. */
#define READING_SECTIONS (ALL_SECTIONS & ~((1u << SECTION_CGROUPS) - 1))

struct selection {
	enum metric_id ids[METRIC_COUNT];
	size_t count;
	bool is_everything; /* the user did not name metrics */
};

/* Returns 0, or -EINVAL with a sentence that names the word and its position. */
int selection_parse(const char *list, struct selection *ret, struct error *error);

void selection_all(struct selection *selection);

/*
 * Parses sections of metrics and readings, one bit each: "memory,cgroups",
 * "all".  Returns 0, or -EINVAL with a sentence that names the word and its
 * position.
 */
int sections_parse(const char *list, uint32_t *ret, struct error *error);

/* The same with other names, "a, b, all": the first is bit 0, and the last is all bits. */
int section_bits_parse(const char *names, const char *list, uint32_t *ret, struct error *error);

/* Adds the metrics of these sections, in table order. */
void selection_add_sections(struct selection *selection, uint32_t sections);

/* At the end or at the start, unless it is already selected. */
void selection_add(struct selection *selection, enum metric_id id);
void selection_add_first(struct selection *selection, enum metric_id id);
bool selection_has(const struct selection *selection, enum metric_id id);

/*
 * Sets the error: there is no such metric, and which one may be meant; others
 * are words that are allowed too, "a|b" or "".  Returns -EINVAL.
 */
int metric_unknown(const char *name, const char *others, struct error *error);

#endif
