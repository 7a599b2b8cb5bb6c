/* SPDX-License-Identifier: MIT */
#include "record/socket/server_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "store/json_parse.h"

#define ID_SIZE 128

struct server_request {
	json_t *object;
	char id[ID_SIZE]; /* as JSON */
};

void server_request_free(struct server_request *request)
{
	if (!request)
		return;
	json_decref(request->object);
	free(request);
}

CLEANUP_POINTER(server_request_free, struct server_request)

/* An id that is too long is not given back. */
static void keep_id(struct server_request *request)
{
	const json_t *id = json_object_get(request->object, "id");
	size_t length = 0;

	if (json_is_integer(id) || json_is_string(id))
		length = json_dumpb(id, request->id, ID_SIZE, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	if (length == 0 || length >= ID_SIZE)
		snprintf(request->id, ID_SIZE, "null");
	else
		request->id[length] = '\0';
}

int server_request_parse(const char *line, size_t length, struct server_request **ret)
{
	CLEANUP(server_request_free_pointer)
	struct server_request *request = calloc(1, sizeof(*request));
	json_error_t why;
	int status;

	if (!request)
		return -ENOMEM;
	status = json_parse(line, length, 0, &request->object, &why);
	if (status < 0)
		return status;
	if (!server_request_method(request))
		return -EBADMSG;
	keep_id(request);
	*ret = TAKE_PTR(request);
	return 0;
}

const char *server_request_method(const struct server_request *request)
{
	return json_string_value(json_object_get(request->object, "method"));
}

const char *server_request_id(const struct server_request *request)
{
	return request->id;
}

const json_t *server_request_parameter(const struct server_request *request, const char *name)
{
	return json_object_get(json_object_get(request->object, "params"), name);
}

int64_t server_request_number(const struct server_request *request, const char *name)
{
	return json_integer_value(server_request_parameter(request, name));
}

int server_request_pid(const struct server_request *request, int32_t *ret, struct error *error)
{
	const json_t *pid = server_request_parameter(request, "pid");
	int64_t number = json_integer_value(pid);

	if (pid && (!json_is_integer(pid) || number < 0 || number > INT32_MAX))
		return error_set(error, -EINVAL, "pid is not the number of a process");
	*ret = (int32_t)number;
	return 0;
}

const char *server_request_text(const struct server_request *request, const char *name)
{
	return json_string_value(server_request_parameter(request, name));
}
