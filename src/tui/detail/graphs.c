/* SPDX-License-Identifier: MIT */
#include "tui/detail/graphs.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "store/history/history.h"
#include "tui/screen/top_state.h"

static const enum metric_id shown[GRAPHS_COUNT] = {
	METRIC_run_time_ns, METRIC_wait_time_ns, METRIC_rss_bytes,
	METRIC_read_bytes,  METRIC_write_bytes,
};

#define UNKNOWN (-1.0)
/* So far back the graph of a recording goes, and so long reading it may take before some are left out. */
#define RECORDED_NS (300 * NS_PER_SECOND)
#define READ_MOST_NS (60 * NS_PER_MS)
/* The recording of a recorder that runs is not read with every moment. */
#define READ_AGAIN_NS (5 * NS_PER_SECOND)

static void append(struct graphs *graphs, size_t i, double value)
{
	if (graphs->count[i] == GRAPHS_POINTS)
		memmove(graphs->values[i], graphs->values[i] + 1,
			--graphs->count[i] * sizeof(graphs->values[i][0]));
	graphs->values[i][graphs->count[i]++] = value;
}

static double value_now(const struct top *top, const struct group *group, enum metric_id id)
{
	struct grouping *grouping = top->view.view.grouping;
	uint64_t interval_ns = grouping->snapshot->interval_ns;
	struct fold fold;

	group_fold(grouping, group, id, &fold);
	if (fold.shape != SHAPE_NUMBER)
		return UNKNOWN;
	if (metrics[id].kind != KIND_COUNTER)
		return (double)fold.number;
	return interval_ns ? (double)fold.number * 1e9 / (double)interval_ns : UNKNOWN;
}

struct reading {
	struct graphs *graphs;
	size_t metric;
	uint64_t start_ns; /* of the process: another one may have had its number */
};

static int add_point(void *context, const struct history_point *point)
{
	struct reading *reading = context;

	if (point->task.start_ns == reading->start_ns)
		append(reading->graphs, reading->metric, point->mean);
	return 0;
}

/* Reads the graphs from `first` on from a recording; false when it knows nothing of the process. */
static bool read_recorded(struct top *top, struct history *history, const struct process *process,
			  size_t first)
{
	uint64_t to_ns = top->moment.sample.unix_ns, begin_ns = monotonic_ns();
	struct graphs *graphs = &top->graphs;
	bool is_known = first > 0;

	graphs->left = 0;
	for (size_t i = first; i < GRAPHS_COUNT; i++) {
		const struct series_query query = {
			.span = { to_ns > RECORDED_NS ? to_ns - RECORDED_NS : 0, to_ns },
			.pid = process->tgid,
			.metric = shown[i],
			.limit = GRAPHS_POINTS,
		};
		struct reading reading = { graphs, i, process->start_time_ns };
		struct error ignored = { 0 };

		graphs->count[i] = 0;
		if (i == first || monotonic_ns() - begin_ns < READ_MOST_NS)
			(void)history_series(history, &query, add_point, &reading, &ignored);
		else
			graphs->left++;
		is_known |= graphs->count[i] > 0;
	}
	graphs->read_ns = monotonic_ns();
	return is_known;
}

static void add_moment(struct top *top, const struct process *process, const struct group *group)
{
	struct moment_source *source = top->options->source;
	struct graphs *graphs = &top->graphs;
	struct error ignored = { 0 };
	bool may_read = source->kind->can_move ||
			(top->moment.has_recorder &&
			 (!graphs->read_ns || monotonic_ns() - graphs->read_ns >= READ_AGAIN_NS));
	struct history *history = may_read ? source->kind->jobs(source, &ignored) : NULL;
	bool is_new = graphs->unix_ns != top->moment.sample.unix_ns;
	size_t first = is_new ? 0 : GRAPHS_COUNT - graphs->left;

	if (first == GRAPHS_COUNT)
		return;
	graphs->unix_ns = top->moment.sample.unix_ns;
	/* What was seen so far stays where the recorder does not know the process yet. */
	if (history && (source->kind->can_move || graphs->is_recorded || !graphs->read_ns))
		graphs->is_recorded = read_recorded(top, history, process, first);
	if (!graphs->is_recorded && !source->kind->can_move && is_new)
		for (size_t i = 0; i < GRAPHS_COUNT; i++)
			append(graphs, i, value_now(top, group, shown[i]));
}

static void append_amount(struct text *out, enum metric_id id, double value)
{
	bool is_rate = metrics[id].kind == KIND_COUNTER;

	if (value < 0)
		text_append_string(out, "-");
	else if (is_rate && metrics[id].unit == UNIT_NS)
		text_format(out, "%.1f %%", value / 1e7);
	else
		unit_format_real(out, metrics[id].unit, value);
	if (value >= 0 && is_rate && metrics[id].unit != UNIT_NS)
		text_append_string(out, "/s");
}

static void add_graph(struct top *top, size_t i)
{
	const struct graphs *graphs = &top->graphs;
	CLEANUP(text_free) struct text line = { 0 };
	size_t count = graphs->count[i], width = (size_t)display_columns(), first;
	double most = UNKNOWN;

	width = width > 60 ? width - 50 : 10;
	first = count > width ? count - width : 0;
	for (size_t point = first; point < count; point++)
		if (graphs->values[i][point] > most)
			most = graphs->values[i][point];
	if (most < 0)
		return;
	text_format(&line, "  %-13s ", metrics[shown[i]].name);
	for (size_t point = first; point < count; point++) {
		double value = graphs->values[i][point];

		row_graph_append(&line,
				 value < 0 ? 0 :
				 most > 0  ? value / most :
					     0,
				 value >= 0, display_has_blocks());
	}
	text_append_string(&line, "  ");
	append_amount(&line, shown[i], graphs->values[i][count - 1]);
	text_append_string(&line, ", at most ");
	append_amount(&line, shown[i], most);
	top_text_line(&top->text, "%s", text_string(&line));
}

void graphs_add(struct top *top, const struct process *process, const struct group *group)
{
	const struct moment_source_kind *kind = top->options->source->kind;

	if (!kind->is_live && !kind->can_move)
		return;
	add_moment(top, process, group);
	top_text_line(&top->text, "%s", "");
	top_text_line(&top->text, "%s:",
		      top->graphs.is_recorded ? "The last five minutes of the process" :
						"Since this was opened");
	for (size_t i = 0; i < GRAPHS_COUNT; i++)
		add_graph(top, i);
	if (top->graphs.left)
		top_text_line(&top->text,
			      "  %zu more were not read yet, since that takes long here",
			      top->graphs.left);
}
