/* SPDX-License-Identifier: MIT */
/*
 * stream: what a recorder sees, as it happens.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/verb/latest_document.h"
#include "cli/args/store_args.h"
#include "record/client.h"
#include "record/record_paths.h"

static struct {
	struct store_args store;
	const char *socket;
	struct option_number limit;
} args;

static const struct option options[] = {
	STORE_OPTION(args.store),
	{ 0, "socket", OPTION_TEXT, &args.socket, "FILE", "the recorder's socket", NULL },
	{ 'n', "limit", OPTION_NUMBER, &args.limit, "N", "end after N lines", NULL },
	{ 0 },
};

static int print_lines(struct client *client, struct error *error)
{
	const char *line = NULL;
	size_t length = 0;
	unsigned long long printed = 0;
	int status = client_answer(client, &line, &length, error);

	while (status == 0 && (!args.limit.value || printed < args.limit.value)) {
		status = client_next(client, &line, &length, error);
		if (status < 0 || printf("%s\n", line) < 0 || fflush(stdout) != 0)
			break;
		printed++;
	}
	return status == -ENODATA ? error_set(error, status, "the recorder ended") : status;
}

static int print_latest(const char *remark, struct error *error)
{
	CLEANUP(free_pointer) char *document = NULL;
	int status = latest_from_store(&args.store, &document, error);

	if (status < 0)
		return status;
	fputs(remark, stderr);
	return printf("%.*s\n", (int)strcspn(document, "\n"), document) < 0 ? -EIO : 0;
}

int verb_stream(char **words, int count, struct error *error)
{
	CLEANUP(client_close) struct client client = { .fd = -1 };
	char path[PATH_MAX];
	int status = args.socket ? 0 : record_socket_path(path);

	(void)words;
	(void)count;
	if (args.store.store && !args.socket)
		return print_latest("", error);
	if (status == 0)
		status = client_open(&client, args.socket ? args.socket : path, error);
	if ((status == -ENOENT || status == -ECONNREFUSED) && !args.socket)
		return print_latest("taskscope: no recorder runs; this is the newest tick of the "
				    "store\n",
				    error);
	if (status == -ENOENT || status == -ECONNREFUSED)
		return error_set(error, status, "no recorder listens at '%s'", args.socket);
	if (status == 0)
		status = client_ask(&client, "stream", error);
	return status < 0 ? status : print_lines(&client, error);
}

const struct command command_stream = {
	.name = "stream",
	.arguments = "",
	.summary = "what a recorder sees, as it happens",
	.description =
		"Prints a line of JSON for each sample of the host, event and anomaly that the\n"
		"running recorder sees, until Ctrl-C; `kind` says which it is. A reader that is\n"
		"too slow is disconnected. Where no recorder runs, or with --store, it prints the\n"
		"newest tick of the store.",
	.examples = "taskscope stream | jq 'select(.kind == \"oom\")'\tonly OOM kills",
	.options = options,
	.words_max = 0,
};
