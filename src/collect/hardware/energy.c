/* SPDX-License-Identifier: MIT */
#include "collect/hardware/energy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/file.h"
#include "base/text.h"
#include "host/host.h"
#include "model/tree/run_numbers.h"

#define ZONES_PATH "class/powercap"
/* Not intel-rapl-mmio:, which shows the same packages again. */
#define ZONE_PREFIX "intel-rapl:"
#define LINE_SIZE 64

uint64_t energy_between(uint64_t before_uj, uint64_t now_uj, uint64_t range_uj)
{
	if (now_uj >= before_uj)
		return now_uj - before_uj;
	return range_uj > before_uj ? range_uj - before_uj + now_uj : now_uj;
}

static int read_line(const struct host *host, const char *zone, const char *file,
		     char line[LINE_SIZE])
{
	char path[sizeof(((struct energy_zone *)0)->path) + 32];
	ssize_t length;

	snprintf(path, sizeof(path), "%s/%s", zone, file);
	length = file_read(host->sys, path, line, LINE_SIZE);
	if (length < 0)
		return (int)length;
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

static int read_number(const struct host *host, const char *zone, const char *file, uint64_t *ret)
{
	char line[LINE_SIZE];
	int status = read_line(host, zone, file, line);

	if (status < 0)
		return status;
	return parse_u64(line, ret) ? 0 : -EBADMSG;
}

static bool find_kind(const char *name, enum energy_kind *ret)
{
	static const struct {
		const char *begin;
		enum energy_kind kind;
	} kinds[] = { { "package-", ENERGY_PACKAGE },
		      { "dram", ENERGY_DRAM },
		      { "psys", ENERGY_PLATFORM } };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strncmp(name, kinds[i].begin, strlen(kinds[i].begin)) == 0) {
			*ret = kinds[i].kind;
			return true;
		}
	return false;
}

static const char *reason_of(int status)
{
	if (status == -EACCES || status == -EPERM)
		return "only root may read the energy counters (energy_uj)";
	return "the energy counters cannot be read";
}

static void add_zone(struct energy *energy, const struct host *host, const char *entry)
{
	struct energy_zone zone = { 0 };
	char name[LINE_SIZE];
	int status;

	if (strlen(entry) + sizeof(ZONES_PATH "/") > sizeof(zone.path))
		return;
	snprintf(zone.path, sizeof(zone.path), ZONES_PATH "/%s", entry);
	if (read_line(host, zone.path, "name", name) < 0 || !find_kind(name, &zone.kind))
		return;
	status = read_number(host, zone.path, "max_energy_range_uj", &zone.range_uj);
	if (status == 0)
		status = read_number(host, zone.path, "energy_uj", &zone.last_uj);
	if (status == 0 && energy->count < ENERGY_ZONES_MAX) {
		energy->zones[energy->count++] = zone;
		return;
	}
	energy->reason = status < 0 ? reason_of(status) : "the host has too many zones";
	energy->lacks[zone.kind] = true;
}

/* A sum without one of its zones would be wrong. */
static void forget_incomplete(struct energy *energy)
{
	size_t kept = 0;

	for (size_t i = 0; i < energy->count; i++)
		if (!energy->lacks[energy->zones[i].kind])
			energy->zones[kept++] = energy->zones[i];
	energy->count = kept;
}

void energy_open(struct energy *energy, const struct host *host, uint64_t now_ns)
{
	int fd = host->sys < 0 ? -1 :
				 openat(host->sys, ZONES_PATH, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	*energy = (struct energy){ .sampled_ns = now_ns };
	while (directory && (entry = readdir(directory)))
		if (strncmp(entry->d_name, ZONE_PREFIX, strlen(ZONE_PREFIX)) == 0)
			add_zone(energy, host, entry->d_name);
	if (directory)
		closedir(directory);
	else
		close_fd(&fd);
	forget_incomplete(energy);
	if (!energy->count && !energy->reason)
		energy->reason = "this host has no energy counters (RAPL), or its hypervisor hides "
				 "them";
}

static void read_zones(struct energy *energy, const struct host *host)
{
	for (size_t i = 0; i < energy->count; i++) {
		struct energy_zone *zone = &energy->zones[i];
		uint64_t now_uj;
		int status = read_number(host, zone->path, "energy_uj", &now_uj);

		if (status < 0) {
			energy->reason = reason_of(status);
			energy->lacks[zone->kind] = true;
			continue;
		}
		zone->total_uj += energy_between(zone->last_uj, now_uj, zone->range_uj);
		zone->last_uj = now_uj;
	}
	forget_incomplete(energy);
}

void energy_sample(struct energy *energy, const struct host *host, uint64_t now_ns)
{
	if (now_ns - energy->sampled_ns < ENERGY_SAMPLE_NS)
		return;
	energy->sampled_ns = now_ns;
	read_zones(energy, host);
}

void energy_result(struct energy *energy, const struct host *host, struct run_hardware *ret)
{
	struct run_number *const sums[ENERGY_KIND_COUNT] = {
		[ENERGY_PACKAGE] = &ret->package_uj,
		[ENERGY_DRAM] = &ret->dram_uj,
		[ENERGY_PLATFORM] = &ret->platform_uj,
	};

	read_zones(energy, host);
	for (size_t i = 0; i < energy->count; i++) {
		struct run_number *sum = sums[energy->zones[i].kind];

		sum->present = true;
		sum->value += energy->zones[i].total_uj;
	}
}
