/*
 * One line about a capture: how much it saw, how, and every loss.
 */
#ifndef RENDER_CAPTURE_NOTE_H
#define RENDER_CAPTURE_NOTE_H

struct json;
struct snapshot;
struct text;

void capture_note(const struct snapshot *snapshot, struct text *out);

/* The tallies as an object, the value of a key that was just written. */
void capture_json(struct json *json, const struct snapshot *snapshot);

#endif
