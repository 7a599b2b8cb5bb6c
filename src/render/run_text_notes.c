/* SPDX-License-Identifier: MIT */
/* Below the tables: what else was used, what was lost or not measured, what watching cost. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "render/run_amount.h"
#include "render/run_text_tables.h"

#define NARROWEST 40
#define INDENT 6
#define SHARE_SHOWN_NS 1000000000

struct notes {
	FILE *out;
	size_t width; /* 0: any */
};

static void separate(struct text *line, size_t start)
{
	text_append_string(line, line->length > start ? ", " : "");
}

/* The byte to break before, so that so many columns are not exceeded; or the end. */
static size_t find_break(const char *text, size_t columns)
{
	size_t at = 0, blank = 0;

	for (size_t column = 0; text[at]; at++) {
		column += ((unsigned char)text[at] & 0xc0) != 0x80;
		if (text[at] == ' ')
			blank = at;
		if (column > columns && blank)
			return blank;
	}
	return at;
}

/* What a terminal would break within a word goes on in a line of its own. */
static void print_line(const struct notes *notes, const struct text *line, size_t start)
{
	const char *rest = text_string(line);
	size_t indent = 0;

	if (line->length <= start)
		return;
	while (*rest) {
		size_t length = notes->width > NARROWEST ? find_break(rest, notes->width - indent) :
							   strlen(rest);

		fprintf(notes->out, "%*s%.*s\n", (int)indent, "", (int)length, rest);
		rest += length + (rest[length] == ' ');
		indent = INDENT;
	}
}

static const struct {
	enum usage_id id;
	bool bytes;
	const char *one, *many; /* after the amount */
} used[] = {
	{ USAGE_READ_BYTES, true, " read from disk", " read from disk" },
	{ USAGE_WRITE_BYTES, true, " written to disk", " written to disk" },
	{ USAGE_MINOR_FAULTS, false, " page fault", " page faults" },
	{ USAGE_MAJOR_FAULTS, false, " from disk", " from disk" },
	{ USAGE_VOLUNTARY_SWITCHES, false, " voluntary switch", " voluntary switches" },
	{ USAGE_INVOLUNTARY_SWITCHES, false, " involuntary", " involuntary" },
};

static void print_used(const struct notes *notes, const struct run *run)
{
	const struct usage *usage = &run->tree->usage;
	CLEANUP(text_free) struct text line = { 0 };
	size_t start;

	text_append_string(&line, "used: ");
	start = line.length;
	for (size_t i = 0; i < ARRAY_SIZE(used); i++) {
		if (!usage_has(usage, used[i].id))
			continue;
		separate(&line, start);
		if (used[i].bytes)
			amount_bytes(&line, usage->values[used[i].id]);
		else
			text_format(&line, "%" PRIu64, usage->values[used[i].id]);
		text_append_string(&line,
				   usage->values[used[i].id] == 1 ? used[i].one : used[i].many);
	}
	if (run->tracer_misses && line.length > start)
		text_append_string(&line, "; without processes that were not seen");
	print_line(notes, &line, start);
}

static const struct {
	size_t offset;
	const char *one, *many;
} losses[] = {
	/* clang-format off */
	{ offsetof(struct run_losses, events), "event (no room in the ring)", "events (no room in the ring)" },
	{ offsetof(struct run_losses, threads), "thread without a last account", "threads without a last account" },
	{ offsetof(struct run_losses, unnamed_syscalls), "system call without its name", "system calls without their names" },
	{ offsetof(struct run_losses, wakers), "waker", "wakers" },
	{ offsetof(struct run_losses, untracked_tasks), "task that was not followed", "tasks that were not followed" },
	{ offsetof(struct run_losses, strays), "event of an unknown task", "events of unknown tasks" },
	{ offsetof(struct run_losses, lines), "JSON line", "JSON lines" },
	{ offsetof(struct run_losses, looks.value), "look at the tree", "looks at the tree" },
	{ offsetof(struct run_losses, scopes), "look at scopes", "looks at scopes" },
	/* clang-format on */
};

static void print_losses(const struct notes *notes, const struct run_losses *lost)
{
	CLEANUP(text_free) struct text line = { 0 };
	size_t start;

	text_append_string(&line, "lost: ");
	start = line.length;
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		uint64_t count = *(const uint64_t *)((const char *)lost + losses[i].offset);

		if (!count)
			continue;
		separate(&line, start);
		text_format(&line, "%" PRIu64 " %s", count,
			    count == 1 ? losses[i].one : losses[i].many);
	}
	print_line(notes, &line, start);
}

static void print_source(const struct notes *notes, const struct run_source *source)
{
	CLEANUP(text_free) struct text line = { 0 };

	text_append_string(&line,
			   source->state[0] == 'p' ? "measured in part: " : "not measured: ");
	text_append_escaped(&line, source->name, strlen(source->name));
	if (source->state[0] != 'p') {
		text_append_string(&line, " is ");
		text_append_escaped(&line, source->state, strlen(source->state));
	}
	if (source->reason) {
		text_append_string(&line, ": ");
		text_append_escaped(&line, source->reason, strlen(source->reason));
	}
	print_line(notes, &line, 0);
}

static void print_sources(const struct notes *notes, const struct run *run)
{
	CLEANUP(text_free) struct text line = { 0 };

	for (size_t i = 0; i < run->source_count; i++)
		if (strcmp(run->sources[i].state, "ok") != 0)
			print_source(notes, &run->sources[i]);
	if (!run->tracer_misses || !run->tracer)
		return;
	text_append_string(&line, "followed by ");
	text_append_escaped(&line, run->tracer, strlen(run->tracer));
	text_append_string(&line, ", which can miss ");
	text_append_escaped(&line, run->tracer_misses, strlen(run->tracer_misses));
	print_line(notes, &line, 0);
}

static void print_self(const struct notes *notes, const struct run *run)
{
	CLEANUP(text_free) struct text line = { 0 };
	const struct run_self *self = &run->self;
	uint64_t wall = run_wall_ns(run) + self->startup_ns;

	if (!run_self_is_known(self))
		return;
	text_append_string(&line, "taskscope itself: ");
	amount_time(&line, self->cpu_ns);
	text_append_string(&line, " CPU");
	/* Of a short run the end alone, which is not in its time, takes more than the watching. */
	if (wall >= SHARE_SHOWN_NS)
		text_format(&line, " (%.1f %% of a core)",
			    100.0 * (double)self->cpu_ns / (double)wall);
	if (self->peak_rss_bytes.present) {
		text_append_string(&line, ", peak ");
		amount_bytes(&line, self->peak_rss_bytes.value);
	}
	text_append_string(&line, ", ready in ");
	amount_time(&line, self->startup_ns);
	text_format(&line, ", %" PRIu64 " sample%s", run->sampling.samples,
		    run->sampling.samples == 1 ? "" : "s");
	if (self->missed_ticks)
		text_format(&line, " (%" PRIu64 " missed)", self->missed_ticks);
	print_line(notes, &line, 0);
}

void run_text_notes(FILE *out, const struct run *run, const struct run_text_options *options)
{
	struct notes notes = { .out = out, .width = options->width };

	fputs("\n", out);
	print_used(&notes, run);
	print_losses(&notes, &run->losses);
	print_sources(&notes, run);
	print_self(&notes, run);
}
