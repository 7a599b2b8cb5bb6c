/* SPDX-License-Identifier: MIT */
#include "record/current_store.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "record/record_paths.h"
#include "record/socket/client.h"
#include "store/json_parse.h"

static int read_answer(const char *answer, size_t length, char ret[PATH_MAX])
{
	json_t *reply = NULL;
	json_error_t why;
	int status = json_parse(answer, length, 0, &reply, &why);
	const char *store = NULL;

	if (status == 0)
		store = json_string_value(json_object_get(reply, "store"));
	if (!store || snprintf(ret, PATH_MAX, "%s", store) >= PATH_MAX)
		status = -ENOENT;
	json_decref(reply);
	return status;
}

static int ask_recorder(char ret[PATH_MAX])
{
	CLEANUP(client_close) struct client client = { .fd = -1 };
	struct error ignored = { 0 };
	char socket[PATH_MAX];
	const char *answer = NULL;
	size_t length = 0;
	int status = record_socket_path(socket);

	if (status == 0)
		status = client_open(&client, socket, &ignored);
	if (status == 0)
		status = client_ask(&client, "store", &ignored);
	if (status == 0)
		status = client_answer(&client, &answer, &length, &ignored);
	return status < 0 ? status : read_answer(answer, length, ret);
}

int record_current_store(char ret[PATH_MAX])
{
	return ask_recorder(ret) == 0 ? 0 : record_store_path(ret);
}
