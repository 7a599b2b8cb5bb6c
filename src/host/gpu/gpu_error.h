/* SPDX-License-Identifier: MIT */
/* Words for why something about a GPU is not known. */
#ifndef HOST_GPU_ERROR_H
#define HOST_GPU_ERROR_H

#include <stdint.h>

/* `error` is one of enum gpu_error, or another number of NVML.  A static string. */
const char *gpu_error_words(uint32_t error);

#endif
