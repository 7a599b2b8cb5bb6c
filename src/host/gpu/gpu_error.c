/* SPDX-License-Identifier: MIT */
#include "host/gpu/gpu_error.h"

#include <stddef.h>

#include "base/collection/array.h"
#include "host/gpu/gpu_report.h"

static const struct {
	uint32_t error;
	const char *words;
} errors[] = {
	{ 1, "NVML was not initialised" },
	{ 2, "NVML does not accept the question" },
	{ GPU_ERROR_NOT_SUPPORTED, "this GPU does not report it" },
	{ 4, "the driver does not permit it: it needs root" },
	{ GPU_ERROR_NOT_FOUND, "the driver has no value of it now" },
	{ GPU_ERROR_INSUFFICIENT_SIZE, "the driver lists more processes than there is room for" },
	{ 8, "the power cables of the GPU are not connected properly" },
	{ GPU_ERROR_DRIVER_NOT_LOADED, "the NVIDIA driver is not loaded" },
	{ 10, "the driver did not answer NVML in time" },
	{ 11, "the kernel has a problem with the GPU's interrupts" },
	{ 12, "a library that NVML needs is missing" },
	{ GPU_ERROR_FUNCTION_NOT_FOUND, "this version of NVML does not have it" },
	{ 14, "the GPU's infoROM is corrupted" },
	{ GPU_ERROR_IS_LOST, "the GPU is lost: it has fallen off the bus" },
	{ 16, "the GPU must be reset" },
	{ 17, "the operating system has blocked the GPU" },
	{ 18,
	  "the driver and its library are of different versions: load the new driver, or reboot" },
	{ 19, "the GPU is in use" },
	{ 20, "the driver is out of memory" },
	{ 21, "the driver has no data" },
	{ 23, "the driver lacks resources" },
	{ 25, "NVML knows another version of the question" },
	{ GPU_ERROR_NONSENSE, "the driver's answer cannot be true" },
	{ GPU_ERROR_NOT_LOADED, "the library could not be loaded" },
	{ GPU_ERROR_NOT_ASKED, "nvidia-smi does not tell it; NVML does" },
	{ GPU_ERROR_LATE, "the driver did not answer in time" },
	{ GPU_ERROR_CRASHED, "it crashed when it was asked" },
};

const char *gpu_error_words(uint32_t error)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].error == error)
			return errors[i].words;
	return "the driver reports an unknown error";
}
