/* SPDX-License-Identifier: MIT */
/*
 * The energy that the host used while a tree was watched, from the counters of its processors
 * (RAPL), which the kernel shows as zones of powercap.
 *
 *	energy_open()	finds the zones and begins to count
 *	energy_sample()	often enough that no zone wraps twice
 *	energy_result()
 */
#ifndef COLLECT_ENERGY_H
#define COLLECT_ENERGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host;
struct run_hardware;

#define ENERGY_ZONES_MAX 64
/* A processor of 1 kW takes a minute for the range of 2^32 steps of 15.3 uJ. */
#define ENERGY_SAMPLE_NS 10000000000ull

/* What a zone measures.  Others, such as the cores, are part of a package. */
enum energy_kind {
	ENERGY_PACKAGE,
	ENERGY_DRAM,
	ENERGY_PLATFORM, /* all of the machine: contains the packages */
	ENERGY_KIND_COUNT,
};

struct energy_zone {
	char path[64];
	enum energy_kind kind;
	uint64_t last_uj;  /* as the kernel shows it */
	uint64_t range_uj; /* the largest that it shows: then it begins at 0 again */
	uint64_t total_uj; /* since energy_open() */
};

struct energy {
	struct energy_zone zones[ENERGY_ZONES_MAX];
	size_t count;
	bool lacks[ENERGY_KIND_COUNT]; /* a zone of that kind cannot be read */
	uint64_t sampled_ns;
	const char *reason; /* why there is nothing, or not all of it; or NULL */
};

/* What a counter that wraps at `range_uj` grew by. */
uint64_t energy_between(uint64_t before_uj, uint64_t now_uj, uint64_t range_uj);

void energy_open(struct energy *energy, const struct host *host, uint64_t now_ns);
/* Reads all zones; does nothing if that was done less than ENERGY_SAMPLE_NS ago. */
void energy_sample(struct energy *energy, const struct host *host, uint64_t now_ns);
/* Reads all zones, and sets the sums over those of a kind; sockets add up. */
void energy_result(struct energy *energy, const struct host *host, struct run_hardware *ret);

#endif
