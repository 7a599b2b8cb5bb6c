/* SPDX-License-Identifier: MIT */
/*
 * Asks a recorder through its socket.
 */
#ifndef RECORD_CLIENT_H
#define RECORD_CLIENT_H

#include <stddef.h>

struct error;

/* A connection; -1 when there is none. */
struct client {
	int fd;
	char *bytes; /* what arrived and was not taken yet */
	size_t length, capacity;
	size_t taken; /* of the front: the line that was given last */
};

/* 0; -ENOENT or -ECONNREFUSED when nobody listens there; or another negative errno with a sentence. */
int client_open(struct client *ret, const char *path, struct error *error);
void client_close(struct client *client);

/* Sends a request without parameters. */
int client_ask(struct client *client, const char *method, struct error *error);

/* Sends one with parameters, a JSON object on one line, and with a file (-1: none). */
int client_ask_with(struct client *client, const char *method, const char *parameters, int file,
		    struct error *error);

/*
 * Waits for the next line and gives it without its newline; it is valid until the next call.  0;
 * -ENODATA when the recorder closed the connection; or a negative errno with a sentence.
 */
int client_next(struct client *client, const char **ret, size_t *ret_length, struct error *error);

/*
 * Waits for the answer to client_ask() and gives its result, as JSON; it is valid until the next
 * line is taken.  An error that the recorder answers is an error here, too.
 */
int client_answer(struct client *client, const char **ret, size_t *ret_length, struct error *error);

#endif
