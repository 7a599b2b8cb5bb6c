/* SPDX-License-Identifier: MIT */
/*
 * Asks nvidia-smi about the GPUs, where NVML cannot be loaded: two processes for each question, one about the devices
 * and one about the processes that compute on them.  They run without a shell, with an environment of ours and a time
 * limit; what they print is bounded.
 */
#ifndef HOST_NVIDIA_SMI_H
#define HOST_NVIDIA_SMI_H

#include <stdbool.h>
#include <stdint.h>

#include "host/confine/confine.h"
#include "host/gpu/gpu_report.h"

enum { NVIDIA_SMI_QUESTIONS = 2 };

struct nvidia_smi {
	bool is_asked;
	int program; /* its fd; the caller's */
	int statuses[NVIDIA_SMI_QUESTIONS];
	bool is_running[NVIDIA_SMI_QUESTIONS];
	struct confined_job jobs[NVIDIA_SMI_QUESTIONS];
	char *texts[NVIDIA_SMI_QUESTIONS]; /* what each printed */
};

/* Starts it.  0 or a negative errno. */
int nvidia_smi_ask(struct nvidia_smi *smi, unsigned timeout_ms);

/*
 * Waits until then (CLOCK_MONOTONIC) for both answers: 0 and a report, which may have an error; -EAGAIN when it still
 * runs; -ENOMEM.
 */
int nvidia_smi_take(struct nvidia_smi *smi, uint64_t until_ns, struct gpu_report *ret);

/* Ends what runs. */
void nvidia_smi_clear(struct nvidia_smi *smi);

/*
 * Parse what it prints: a line for each device, with its name, its UUID and each value of gpu_values.def; a line for each
 * process, with the device's UUID, the number of the process and the MiB that it has.  They return how many lines make no
 * sense.  The text is changed.
 */
unsigned nvidia_smi_parse_devices(char *text, struct gpu_report *ret);
unsigned nvidia_smi_parse_processes(char *text, struct gpu_report *ret);

#endif
