/* SPDX-License-Identifier: MIT */
/*
 * Finds NVIDIA's management library and nvidia-smi.
 *
 * They are code that is not ours, so they are looked for in a fixed list of places only, and count only if they are
 * trusted (host/confine/trusted_file.h): files of root or of the user who runs us, in directories that nobody else can
 * write to.  LD_LIBRARY_PATH and PATH mean nothing here.  TASKSCOPE_GPU_PATH names one directory instead of the list,
 * held to the same rule; it is ignored where we have more rights than the user who runs us (secure_getenv(3)).
 */
#ifndef HOST_GPU_FILES_H
#define HOST_GPU_FILES_H

enum gpu_file {
	GPU_FILE_NVML,
	GPU_FILE_NVIDIA_SMI,
};

/*
 * Opens the first trusted one for reading: an fd; -ENOENT when there is none; -EKEYREJECTED when there is only one that
 * is not trusted.
 */
int gpu_file_open(enum gpu_file file);

/* A sentence about a failure of it. */
const char *gpu_file_words(enum gpu_file file, int status);

#endif
