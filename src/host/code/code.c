/* SPDX-License-Identifier: MIT */
#include "host/code/code.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "host/code/name/code_naming.h"
#include "host/code/code_state.h"
#include "host/host.h"
#include "host/proc/proc_file.h"

#define MEMORY_BYTES ((uint64_t)24 << 20)
#define ANSWER_MS 1000

CLEANUP_POINTER(code_close, struct code)

int code_open(const struct host *host, const struct code_limits *limits, struct code **ret)
{
	CLEANUP(code_close_pointer) struct code *code = calloc(1, sizeof(*code));
	int status;

	if (!code)
		return -ENOMEM;
	code->host = host;
	code->limits = limits ? *limits : (struct code_limits){ 0 };
	if (!code->limits.memory_bytes)
		code->limits.memory_bytes = MEMORY_BYTES;
	if (!code->limits.answer_ms)
		code->limits.answer_ms = ANSWER_MS;
	code->service = (struct code_service){
		.socket = -1,
		.proc = proc_numbers_are_ours(host) ? host->proc : -1,
		.answer_ms = code->limits.answer_ms,
	};
	code->strangers = code->service;
	(void)code_user_find(code, CODE_OWNER_TRUSTED); /* these two never share their rows */
	(void)code_user_find(code, CODE_OWNER_UNKNOWN);
	code->keys = dictionary_new();
	if (!code->keys)
		return -ENOMEM;
	status = code_service_start(&code->service);
	if (status < 0)
		return status;
	*ret = TAKE_PTR(code);
	return 0;
}

static void free_file(struct code_file *file)
{
	close_fd(&file->fd);
	free(file->path);
	free(file->segments);
	code_rows_clear(&file->rows);
	file_names_free(file->names);
	free(file);
}

void code_close(struct code *code)
{
	if (!code)
		return;
	code_service_end(&code->service);
	code_service_end(&code->strangers);
	for (size_t i = 0; i < code->files.count; i++)
		free_file(code->files.data[i]);
	code_rules_clear(&code->rules);
	array_free(&code->files);
	array_free(&code->by_key);
	dictionary_free(code->keys);
	code_naming_free(code->naming);
	free(code);
}

static void add_service(const struct code_service *service, struct code_counts *counts)
{
	uint64_t cpu_ns, peak_rss_bytes;

	code_service_usage(service, &cpu_ns, &peak_rss_bytes);
	counts->restarts += service->starts ? service->starts - 1 : 0;
	counts->service_cpu_ns += cpu_ns;
	counts->service_peak_rss_bytes += peak_rss_bytes;
}

void code_counts(const struct code *code, struct code_counts *ret)
{
	*ret = (struct code_counts){
		.files = code->opened,
		.bad_files = code->bad,
		.refused = code->users.refused,
		.names_lost = code_naming_lost(code->naming),
	};
	add_service(&code->service, ret);
	add_service(&code->strangers, ret);
}
