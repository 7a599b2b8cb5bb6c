/* SPDX-License-Identifier: MIT */
/*
 * Our end of the NVML helper (nvml_helper.c): a process that is started once and asked again and again.
 */
#ifndef HOST_NVML_H
#define HOST_NVML_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/gpu/gpu_report.h"

struct nvml {
	pid_t pid; /* 0: none runs */
	int socket;
	bool is_asked;
};

/* Starts the helper for the library, which is open.  0 or a negative errno. */
int nvml_start(struct nvml *nvml, int library);

/* Asks; nothing may be asked already.  0, or -EPROTO when the helper has ended. */
int nvml_ask(struct nvml *nvml);

/*
 * Waits until then (CLOCK_MONOTONIC) for the answer: 0 and a report, whose numbers are within their bounds; -EAGAIN
 * when it is not there yet; -EPROTO when the helper ended or what it says makes no sense.
 */
int nvml_take(struct nvml *nvml, uint64_t until_ns, struct gpu_report *ret);

void nvml_end(struct nvml *nvml);

/* Makes a report safe, whoever wrote it: false when that is not possible. */
bool gpu_report_check(struct gpu_report *report);

#endif
