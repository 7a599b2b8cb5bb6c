/*
 * One line about a capture: how much it saw, how, and every loss.
 */
#ifndef RENDER_CAPTURE_NOTE_H
#define RENDER_CAPTURE_NOTE_H

struct snapshot;
struct text;

void capture_note(const struct snapshot *snapshot, struct text *out);

/* The losses alone, e.g. "3 tasks vanished; read failures: io 12 of 30"; nothing on a good day. */
void capture_losses(const struct snapshot *snapshot, struct text *out);

#endif
