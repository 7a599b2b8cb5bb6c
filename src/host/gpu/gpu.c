/* SPDX-License-Identifier: MIT */
#include "host/gpu/gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/collection/array.h"
#include "host/gpu/gpu_error.h"
#include "host/gpu/gpu_files.h"
#include "host/gpu/nvidia_smi.h"
#include "host/gpu/nvml.h"

#define STARTS_MAX 3 /* of a helper that hangs or crashes */
#define FAILURE_SIZE 160

enum way {
	WAY_NVML,
	WAY_NVIDIA_SMI,
	WAY_NONE,
};

static const char *const way_names[] = { "NVML", "nvidia-smi", NULL };

struct gpu {
	enum way way;
	int files[WAY_NONE]; /* the library and the program, or a negative errno */
	struct nvml nvml;
	struct nvidia_smi smi;
	unsigned starts;
	bool has_worked;	/* this way has answered */
	bool is_slow;		/* it is not waited for */
	bool has_report;	/* which was not taken yet */
	uint64_t asked_ns;	/* CLOCK_MONOTONIC */
	uint64_t asked_boot_ns; /* CLOCK_BOOTTIME, of what is asked now */
	uint64_t report_boot_ns;
	struct gpu_report report, incoming;
	char failures[WAY_NONE][FAILURE_SIZE]; /* why a way does not work */
	char reason[WAY_NONE * FAILURE_SIZE + sizeof("; ")];
};

int gpu_open(struct gpu **ret)
{
	struct gpu *gpu = calloc(1, sizeof(*gpu));

	if (!gpu)
		return -ENOMEM;
	gpu->files[WAY_NVML] = gpu_file_open(GPU_FILE_NVML);
	gpu->files[WAY_NVIDIA_SMI] = gpu_file_open(GPU_FILE_NVIDIA_SMI);
	gpu->smi.program = gpu->files[WAY_NVIDIA_SMI];
	*ret = gpu;
	return 0;
}

void gpu_close(struct gpu *gpu)
{
	if (!gpu)
		return;
	nvml_end(&gpu->nvml);
	nvidia_smi_clear(&gpu->smi);
	for (size_t i = 0; i < ARRAY_SIZE(gpu->files); i++)
		close_fd(&gpu->files[i]);
	free(gpu);
}

static bool is_asked(const struct gpu *gpu)
{
	return gpu->nvml.is_asked || gpu->smi.is_asked;
}

/* This way does not work; the next one is tried at the next question. */
static void give_up(struct gpu *gpu, const char *why)
{
	snprintf(gpu->failures[gpu->way], sizeof(gpu->failures[0]), "%s", why);
	nvml_end(&gpu->nvml);
	nvidia_smi_clear(&gpu->smi);
	gpu->way++;
	gpu->starts = 0;
	gpu->is_slow = gpu->has_worked = false;
}

/* A helper that hangs or crashes is started again a few times. */
static void restart(struct gpu *gpu, const char *why)
{
	char sentence[FAILURE_SIZE];

	nvml_end(&gpu->nvml);
	nvidia_smi_clear(&gpu->smi);
	snprintf(gpu->failures[gpu->way], sizeof(gpu->failures[0]), "%s", why);
	if (++gpu->starts < STARTS_MAX)
		return;
	snprintf(sentence, sizeof(sentence), "%s, %d times", why, STARTS_MAX);
	give_up(gpu, sentence);
}

static int ask_nvml(struct gpu *gpu)
{
	int status = 0;

	if (!gpu->nvml.pid)
		status = nvml_start(&gpu->nvml, gpu->files[WAY_NVML]);
	return status < 0 ? status : nvml_ask(&gpu->nvml);
}

static void ask_now(struct gpu *gpu)
{
	while (gpu->way < WAY_NONE && !is_asked(gpu)) {
		int file = gpu->files[gpu->way], status;
		enum way way = gpu->way;

		if (file < 0) {
			give_up(gpu, gpu_file_words(way == WAY_NVML ? GPU_FILE_NVML :
								      GPU_FILE_NVIDIA_SMI,
						    file));
			continue;
		}
		gpu->asked_ns = monotonic_ns();
		gpu->asked_boot_ns = clock_ns(CLOCK_BOOTTIME);
		status = way == WAY_NVML ? ask_nvml(gpu) : nvidia_smi_ask(&gpu->smi, GPU_HUNG_MS);
		if (status == -EPROTO)
			restart(gpu, "the NVML helper crashed");
		else if (status < 0)
			give_up(gpu, strerrordesc_np(-status));
	}
}

static int take_answer(struct gpu *gpu, uint64_t until_ns)
{
	return gpu->way == WAY_NVML ? nvml_take(&gpu->nvml, until_ns, &gpu->incoming) :
				      nvidia_smi_take(&gpu->smi, until_ns, &gpu->incoming);
}

/* A way that fails from the start is given up; one that worked may work again. */
static void judge(struct gpu *gpu)
{
	if (!gpu->incoming.error) {
		gpu->has_worked = gpu->has_report = true;
		gpu->report_boot_ns = gpu->asked_boot_ns;
		gpu->report = gpu->incoming;
		gpu->starts = 0;
		gpu->failures[gpu->way][0] = '\0';
	} else if (gpu->has_worked) {
		snprintf(gpu->failures[gpu->way], sizeof(gpu->failures[0]), "%s",
			 gpu_error_words(gpu->incoming.error));
	} else {
		char sentence[FAILURE_SIZE];

		snprintf(sentence, sizeof(sentence), "%s: %s", way_names[gpu->way],
			 gpu_error_words(gpu->incoming.error));
		give_up(gpu, sentence);
	}
}

/* Takes what has arrived, or arrives until then; -EAGAIN when nothing did. */
static int receive(struct gpu *gpu, uint64_t until_ns)
{
	int status = take_answer(gpu, until_ns);

	if (status == 0)
		judge(gpu);
	else if (status == -EAGAIN && monotonic_ns() - gpu->asked_ns >= GPU_HUNG_MS * NS_PER_MS)
		restart(gpu, "the driver did not answer within 10 s");
	else if (status == -EPROTO)
		restart(gpu, "the NVML helper crashed");
	return status;
}

void gpu_ask(struct gpu *gpu)
{
	gpu->has_report = false;
	if (is_asked(gpu))
		receive(gpu, 0);
	ask_now(gpu);
}

const struct gpu_report *gpu_take(struct gpu *gpu, unsigned patience_ms)
{
	uint64_t until_ns = monotonic_ns() + (gpu->is_slow ? 0 : patience_ms * NS_PER_MS);

	while (!gpu->has_report && is_asked(gpu)) {
		if (receive(gpu, until_ns) == -EAGAIN) {
			gpu->is_slow |= gpu->asked_ns + patience_ms * NS_PER_MS <= monotonic_ns();
			break;
		}
		/* Another way may answer at once. */
		if (!gpu->has_report && !gpu->has_worked)
			ask_now(gpu);
	}
	if (!gpu->has_report)
		return NULL;
	gpu->has_report = false;
	return &gpu->report;
}

uint64_t gpu_asked_boot_ns(const struct gpu *gpu)
{
	return gpu->report_boot_ns;
}

/* Says why each way that was given up failed, and what the present one lacks. */
const char *gpu_reason(struct gpu *gpu)
{
	bool is_late = gpu->way < WAY_NONE && !gpu->failures[gpu->way][0];

	snprintf(gpu->reason, sizeof(gpu->reason), "%s%s%s", gpu->failures[WAY_NVML],
		 gpu->failures[WAY_NVML][0] && (gpu->failures[WAY_NVIDIA_SMI][0] || is_late) ?
			 "; " :
			 "",
		 is_late ? "the driver has not answered yet" : gpu->failures[WAY_NVIDIA_SMI]);
	return gpu->reason;
}

const char *gpu_way(const struct gpu *gpu)
{
	return way_names[gpu->way];
}
