/* SPDX-License-Identifier: MIT */
/*
 * What was learned of the GPUs at one moment.  It is also what the NVML helper, which is a separate program, sends
 * us, so that it has a fixed size and no pointers.
 */
#ifndef HOST_GPU_REPORT_H
#define HOST_GPU_REPORT_H

#include <stdint.h>

#define GPU_DEVICES_MAX 32
#define GPU_PROCESSES_MAX 1024
#define GPU_TEXT_SIZE 96 /* of a name or UUID, with its NUL */
#define GPU_PID_MAX 4194304

enum gpu_value {
#define GPU_VALUE(id, ...) GPU_##id,
#include "host/gpu/gpu_values.def"
	GPU_VALUE_COUNT,
};

/* Why something is not known: NVML's own numbers, and one of ours (gpu_error.h has the words). */
enum gpu_error {
	GPU_ERROR_NONE = 0,
	GPU_ERROR_NOT_SUPPORTED = 3,
	GPU_ERROR_NOT_FOUND = 6,
	GPU_ERROR_INSUFFICIENT_SIZE = 7,
	GPU_ERROR_DRIVER_NOT_LOADED = 9,
	GPU_ERROR_FUNCTION_NOT_FOUND = 13,
	GPU_ERROR_IS_LOST = 15,
	GPU_ERROR_UNKNOWN = 999,
	GPU_ERROR_NONSENSE = 1000, /* an answer that cannot be true */
	GPU_ERROR_NOT_LOADED,	   /* the library could not be loaded */
	GPU_ERROR_NOT_ASKED,	   /* this way of asking does not tell it */
	GPU_ERROR_LATE,		   /* no answer in time */
	GPU_ERROR_CRASHED,	   /* what was asked ended instead of answering */
};

struct gpu_number {
	uint32_t error; /* 0: the value is known */
	uint64_t value;
};

struct gpu_device {
	char name[GPU_TEXT_SIZE], uuid[GPU_TEXT_SIZE]; /* "": not known */
	struct gpu_number values[GPU_VALUE_COUNT];
	uint32_t processes_error; /* why the memory of its processes is not known */
	uint32_t busy_error;	  /* why their utilisation is not known */
};

/* A process on a device; it may be on several. */
struct gpu_process {
	uint32_t pid, device;
	struct gpu_number memory_bytes, busy_percent;
};

struct gpu_report {
	uint32_t error; /* not 0: nothing is known, for this reason */
	uint32_t device_count, process_count;
	uint32_t devices_left_out, processes_left_out; /* there was no room for them, or: */
	uint32_t left_out_error;		       /* of devices that cannot be asked; or 0 */
	struct gpu_device devices[GPU_DEVICES_MAX];
	struct gpu_process processes[GPU_PROCESSES_MAX];
};

#endif
