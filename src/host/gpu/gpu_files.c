/* SPDX-License-Identifier: MIT */
#include "host/gpu/gpu_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/confine/confine.h"
#include "host/confine/trusted_file.h"

#define PLACE "TASKSCOPE_GPU_PATH"

/* Where distributions, NVIDIA's own installer, containers and WSL put it. */
static const char *const libraries[] = {
#if defined(__x86_64__)
	"/usr/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
	"/usr/lib/aarch64-linux-gnu",
#endif
	"/usr/lib64",
	"/usr/lib",
	"/usr/lib64/nvidia",
	"/usr/local/nvidia/lib64",
	"/usr/lib/wsl/lib",
	"/run/opengl-driver/lib",
	NULL,
};

static const char *const programs[] = {
	"/usr/bin",
	"/usr/local/bin",
	"/usr/sbin",
	"/usr/local/nvidia/bin",
	"/opt/bin",
	"/usr/lib/wsl/lib",
	"/run/current-system/sw/bin",
	NULL,
};

static const struct {
	const char *name;
	const char *const *places;
	const char *missing, *untrusted;
} files[] = {
	[GPU_FILE_NVML] = { "libnvidia-ml.so.1", libraries,
			    "NVML is not installed (libnvidia-ml.so.1)",
			    "NVML is not used: others can change libnvidia-ml.so.1, or a directory "
			    "on the way to it" },
	[GPU_FILE_NVIDIA_SMI] = { "nvidia-smi", programs, "nvidia-smi is not installed",
				  "nvidia-smi is not used: others can change it, or a directory on "
				  "the way to it" },
};

/* Its usual name is a link to the version; links of trusted directories are those of their owners. */
static int open_in(const char *place, const char *name)
{
	char path[PATH_MAX], found[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", place, name) >= sizeof(path) ||
	    !realpath(path, found))
		return -ENOENT;
	return trusted_file_open(found, NULL);
}

int gpu_file_open(enum gpu_file file)
{
	const char *chosen = secure_getenv(PLACE);
	const char *const only[] = { chosen, NULL };
	const char *const *places = chosen ? only : files[file].places;
	int status = -ENOENT;

	for (; *places; places++) {
		int fd = open_in(*places, files[file].name);

		if (fd >= 0)
			return confined_move_up(fd);
		if (fd != -ENOENT)
			status = fd;
	}
	return status;
}

const char *gpu_file_words(enum gpu_file file, int status)
{
	return status == -ENOENT ? files[file].missing : files[file].untrusted;
}
