/* SPDX-License-Identifier: MIT */
/*
 * A request to the recorder's socket: one line with a JSON object.  It comes from a stranger.
 */
#ifndef RECORD_SERVER_REQUEST_H
#define RECORD_SERVER_REQUEST_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct server_request;

/* 0; -EBADMSG for anything but an object with a method; or -ENOMEM. */
int server_request_parse(const char *line, size_t length, struct server_request **ret);
void server_request_free(struct server_request *request); /* NULL is allowed */

const char *server_request_method(const struct server_request *request);
/* The id as JSON, to be given back as it is; "null" where it is neither a number nor a text. */
const char *server_request_id(const struct server_request *request);

/* A parameter: 0, or NULL, when it is missing or of another type. */
int64_t server_request_number(const struct server_request *request, const char *name);
/* The process that is asked for, 0 for all; or -EINVAL where `pid` can be no process. */
int server_request_pid(const struct server_request *request, int32_t *ret, struct error *error);
/* As jansson has it; NULL when it is missing. */
const struct json_t *server_request_parameter(const struct server_request *request,
					      const char *name);
const char *server_request_text(const struct server_request *request, const char *name);

#endif
