/* SPDX-License-Identifier: MIT */
#include "cli/args/capture_args.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/suggest.h"
#include "cli/args/pid_list.h"
#include "collect/capture.h"
#include "host/host.h"

bool capture_args_given(const struct capture_args *args)
{
	return args->source || args->without || args->root || args->no_cmdline ||
	       args->no_jemalloc_oracle || args->smaps || args->gpu;
}

static int unknown_source(const char *name, size_t length, struct error *error)
{
	struct suggestion suggestion = suggest_for(name, length);

	for (int id = 0; id < SOURCE_COUNT; id++)
		suggest(&suggestion, sources[id].name);
	return error_set(error, -EINVAL, "there is no source '%.*s'; %s", (int)length, name,
			 suggestion_hint(&suggestion, "", "`taskscope doctor` lists them"));
}

static int parse_sources(const char *list, uint32_t *ret, struct error *error)
{
	char name[32];

	while (list) {
		size_t length = strcspn(list, ",");
		int id = -1;

		if (length < sizeof(name)) {
			memcpy(name, list, length);
			name[length] = '\0';
			id = source_find(name);
		}
		if (id < 0)
			return unknown_source(list, length, error);
		*ret |= 1u << id;
		list = list[length] ? list + length + 1 : NULL;
	}
	return 0;
}

static enum task_lister parse_lister(const char *word)
{
	if (!word || strcmp(word, "auto") == 0)
		return LIST_AUTO;
	return strcmp(word, "bpf") == 0 ? LIST_BPF : LIST_PROCFS;
}

int capture_input_open(struct capture_input *input, const struct capture_args *args,
		       struct error *error)
{
	struct capture_options options = {
		.lister = parse_lister(args->source),
		.cgroup = args->tasks.cgroup,
		.smaps = args->smaps,
		.gpu = args->gpu,
		.no_jemalloc_oracle = args->no_jemalloc_oracle,
	};
	int status = filter_args_live(&args->tasks, &input->filter, error);

	if (status == 0)
		status = parse_sources(args->without, &options.without, error);
	if (status == 0)
		status = host_open(&input->host, args->root, error);
	if (status == 0)
		status = pid_list_add(&input->list, input->host, args->tasks.pids, error);
	if (status < 0)
		return status;
	if (args->no_cmdline)
		options.without |= 1u << SOURCE_CMDLINE;
	options.pids = input->list.pids.data;
	options.pid_count = input->list.pids.count;
	return sampling_open(input->host, &options, &input->sampling, error);
}

void capture_input_close(struct capture_input *input)
{
	sampling_close(input->sampling);
	host_close(input->host);
	pid_list_free(&input->list);
	filter_clear(&input->filter);
}

int capture_args_take(const struct capture_args *args, struct snapshot **ret, struct error *error)
{
	CLEANUP(capture_input_close) struct capture_input input = { 0 };
	int status = capture_input_open(&input, args, error);

	if (status == 0)
		status = sampling_take(input.sampling, ret, error);
	return status < 0 ? status : filter_apply(&input.filter, ret, 1, error);
}
