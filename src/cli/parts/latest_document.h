/* SPDX-License-Identifier: MIT */
/*
 * The newest tick as a JSON document, {"host", "processes", "anomalies"}: from the recorder, or,
 * where none runs, the same from its store.
 */
#ifndef CLI_LATEST_DOCUMENT_H
#define CLI_LATEST_DOCUMENT_H

struct error;
struct store_args;

/*
 * From the recorder's socket (NULL: the default).  The caller frees *ret.  0; -ENOENT or
 * -ECONNREFUSED when no recorder listens; or a negative errno with a sentence.
 */
int latest_from_recorder(const char *socket, char **ret, struct error *error);

/* From the store.  0, or a negative errno with a sentence. */
int latest_from_store(const struct store_args *args, char **ret, struct error *error);

#endif
