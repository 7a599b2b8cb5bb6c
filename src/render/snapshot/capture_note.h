/* SPDX-License-Identifier: MIT */
/*
 * One line about a capture: how much it saw, how, and every loss; and the same
 * for programs.
 */
#ifndef RENDER_CAPTURE_NOTE_H
#define RENDER_CAPTURE_NOTE_H

struct json;
struct snapshot;
struct source_report;
struct text;

/* How many threads and processes it has. */
void capture_size(const struct snapshot *snapshot, struct text *out);
void capture_note(const struct snapshot *snapshot, struct text *out);

/* The tallies as an object, the value of a key that was just written. */
void capture_json(struct json *json, const struct snapshot *snapshot);

/* How a source did, as members of an open object, to which more may be added. */
void source_json_members(struct json *json, const struct source_report *source);

#endif
