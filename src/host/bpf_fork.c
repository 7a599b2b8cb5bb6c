/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "host/bpf.h"
#include "host/elf/process_maps.h"
#include "host/host.h"
#include "host/proc/proc_file.h"

#define MAP_NAME "anon_inode:bpf-map"

void host_bpf_keep_from_forks(const struct host *host)
{
	CLEANUP(close_fd) int self = proc_open(host->proc, "self");
	CLEANUP(process_maps_clear) struct process_maps maps = { 0 };

	if (self < 0 || process_maps_read(self, &maps) < 0)
		return;
	for (size_t i = 0; i < maps.mappings.count; i++) {
		const struct process_mapping *mapping = &maps.mappings.data[i];

		if (strcmp(mapping->name, MAP_NAME) == 0)
			madvise((void *)(uintptr_t)mapping->start, mapping->end - mapping->start,
				MADV_DONTFORK);
	}
}
