/* SPDX-License-Identifier: MIT */
/* The loop: ticks, keys and signals, each of which ends with a painted screen. */
#include "tui/screen/top.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "tui/screen/top_state.h"

void top_say(struct top *top, bool is_bad, const char *format, ...)
{
	CLEANUP(free_pointer) char *sentence = NULL;
	va_list values;
	int length;

	va_start(values, format);
	length = vasprintf(&sentence, format, values);
	va_end(values);
	text_clear(&top->message);
	top->message_is_bad = is_bad;
	if (length > 0)
		text_append_escaped(&top->message, sentence, (size_t)length);
	if (length < 0)
		sentence = NULL;
}

void top_arrange(struct top *top)
{
	struct moment_view view;
	struct error error = { 0 };

	if (!top->moment.tasks)
		return;
	if (moment_view_make(&view, &top->moment, &top->choice, &error) < 0) {
		moment_view_clear(&view);
		top_say(top, true, "%s", error.message);
		return;
	}
	moment_view_clear(&top->view);
	top->view = view;
	/* Also while a page hides the table. */
	row_history_add(&top->past, top->view.grouping, &top->moment);
	top_keep_place(top);
	if (top->mode == MODE_TEXT && top->text.is_detail)
		top_show_detail(top);
}

static void measure_self(struct top *top)
{
	uint64_t now_ns = monotonic_ns(), cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	top->own_percent = -1;
	if (top->cpu_read_ns && now_ns > top->cpu_read_ns)
		top->own_percent = 100.0 * (double)(cpu_ns - top->cpu_ns) /
				   (double)(now_ns - top->cpu_read_ns);
	top->cpu_ns = cpu_ns;
	top->cpu_read_ns = now_ns;
}

static void want(bool wanted[METRIC_STORED], enum metric_id id)
{
	const struct formula *formula = &metrics[id].formula;

	if (!metric_is_derived(id))
		wanted[id] = true;
	else
		for (unsigned i = 0; i < formula->count; i++)
			wanted[formula->inputs[i]] = true;
}

/* A filter may ask for any metric, and all about a row is about all. */
static bool needs_all(const struct top *top)
{
	return top->mode == MODE_TEXT || top->mode == MODE_PROMPT || !filter_is_empty(&top->filter);
}

/*
 * Asks the source for what is shown, and no more: of ten thousand threads, the rest would be most of the
 * work.  True when the moment that is shown lacks some of it.
 */
static bool want_shown(struct top *top)
{
	const struct moment_source *source = top->options->source;
	bool wanted[METRIC_STORED] = {
		[METRIC_state] = true, [METRIC_run_time_ns] = true, [METRIC_wait_time_ns] = true
	};
	bool is_more = false;

	if (!source->kind->want)
		return false;
	if (top->choice.axis == AXIS_SCOPE)
		wanted[METRIC_scope_age_ns] = wanted[METRIC_scope_count] =
			wanted[METRIC_scope_total] = wanted[METRIC_scope_stall_ns] = true;
	if (needs_all(top))
		memset(wanted, true, sizeof(wanted));
	for (size_t i = 0; i < top->choice.metrics.count; i++)
		want(wanted, top->choice.metrics.ids[i]);
	for (size_t i = 0; i < top->choice.sorting.count; i++)
		if (top->choice.sorting.keys[i].by == ORDER_METRIC)
			want(wanted, top->choice.sorting.keys[i].metric);
	for (int id = 0; id < METRIC_STORED; id++)
		is_more |= wanted[id] && !top->needed[id];
	memcpy(top->needed, wanted, sizeof(wanted));
	source->kind->want(top->options->source, top->needed);
	return is_more;
}

/* Rows that nobody looks at need no order. */
#define ROWS_ORDERED 128

void top_order_all(struct top *top)
{
	if (!top->choice.ordered)
		return;
	top->choice.ordered = 0;
	top_arrange(top);
}

void top_take(struct top *top, const struct move *move)
{
	struct error error = { 0 };
	bool had_rates = top->moment.tasks->interval_ns;
	int status;

	/* Its rows point into the moment that goes. */
	status = moment_source_take(top->options->source, move, &top->moment, &error);
	if (status == 0)
		moment_view_clear(&top->view);
	if (status < 0) {
		top->is_paused = top->is_paused || !top->moment.is_live;
		top_say(top, status != -ENODATA, "%s", error.message);
		return;
	}
	if (had_rates != (top->moment.tasks->interval_ns > 0))
		memset(top->widths, 0, sizeof(top->widths));
	measure_self(top);
	top->choice.ordered = top->first + top->page <= ROWS_ORDERED ? ROWS_ORDERED : 0;
	top_arrange(top);
}

static bool waits_for_ticks(const struct top *top)
{
	const struct moment_source_kind *kind = top->options->source->kind;

	return !top->is_paused && (kind->is_live || kind->can_move);
}

/* Each moment has its deadline, so that the pace is kept; those that are over are left out. */
static void plan_tick(struct top *top)
{
	uint64_t now_ns = monotonic_ns(), interval_ns = top->options->interval_ns;

	if (!waits_for_ticks(top)) {
		top->tick.deadline_ns = LOOP_NEVER;
		return;
	}
	if (top->tick.deadline_ns == LOOP_NEVER)
		top->tick.deadline_ns = now_ns;
	while (top->tick.deadline_ns <= now_ns)
		top->tick.deadline_ns += interval_ns;
	/* The first rates come soon. */
	if (top->moment.is_live && !top->moment.before_unix_ns && interval_ns > NS_PER_SECOND / 2)
		top->tick.deadline_ns = now_ns + NS_PER_SECOND / 2;
}

static void take_tick(void *context)
{
	const struct move on = { .kind = MOVE_ON };
	struct top *top = context;

	if (!top->is_paused)
		top_take(top, &on);
	plan_tick(top);
}

static void take_click(struct top *top, const struct input *input)
{
	size_t row = top->first + (size_t)(input->row - top->table_row - 1);

	for (size_t i = 0; input->row == top->table_row && i < top->painted_count; i++) {
		const struct painted_column *column = &top->painted[i];

		if (input->column >= column->left && input->column < column->right)
			top_sort_by_title(top, column->sort);
	}
	if (input->row > top->table_row && row < top_rows(top) && row < top->first + top->page)
		top->selected = row;
}

static void take_input(struct top *top, const struct input *input)
{
	int key = input->kind == INPUT_KEY || input->kind == INPUT_SPECIAL ?
			  key_find(input->code, input->kind == INPUT_SPECIAL) :
			  -1;

	text_clear(&top->message);
	if (input->kind == INPUT_WHEEL)
		key = input->code ? KEY_OF_DOWN : KEY_OF_UP;
	if (top->mode == MODE_PROMPT)
		top_prompt_input(top, input);
	else if (top->mode == MODE_MENU)
		top_menu_input(top, input, key);
	else if (input->kind == INPUT_CLICK && top->mode == MODE_TABLE)
		take_click(top, input);
	else if (key >= 0)
		top_press(top, key);
}

static void read_input(void *context)
{
	struct top *top = context;
	struct input input;

	while ((input = display_read()).kind != INPUT_NONE) {
		if (input.kind == INPUT_END) {
			loop_stop(&top->loop);
			return;
		}
		take_input(top, &input);
	}
	if (waits_for_ticks(top) != (top->tick.deadline_ns != LOOP_NEVER))
		plan_tick(top);
	if (want_shown(top) && waits_for_ticks(top))
		top->tick.deadline_ns = monotonic_ns();
}

static void read_signals(void *context)
{
	struct signalfd_siginfo signal;
	struct top *top = context;

	if (read(top->signals.fd, &signal, sizeof(signal)) != sizeof(signal))
		return;
	if (signal.ssi_signo == SIGWINCH)
		display_resize();
	else if (signal.ssi_signo == SIGTSTP)
		display_suspend();
	else if (signal.ssi_signo == SIGINT && top->verb.child.pid && !top->verb.child.was_ended)
		top_press(top, KEY_OF_BACK);
	else
		loop_stop(&top->loop);
}

static void after_round(void *context)
{
	top_paint(context);
}

static int open_loop(struct top *top)
{
	static const int numbers[] = { SIGWINCH, SIGTSTP, SIGTERM, SIGINT, SIGHUP, SIGQUIT };
	sigset_t set;
	int status = loop_open(&top->loop), fd;

	if (status < 0)
		return status;
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaddset(&set, numbers[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	top->signals = (struct loop_fd){ .ready = read_signals, .context = top };
	top->input = (struct loop_fd){ .ready = read_input, .context = top };
	top->tick =
		(struct loop_timer){ .due = take_tick, .context = top, .deadline_ns = LOOP_NEVER };
	status = loop_add_fd(&top->loop, &top->signals, fd, EPOLLIN);
	if (status < 0)
		close(fd);
	else
		status = loop_add_fd(&top->loop, &top->input, STDIN_FILENO, EPOLLIN);
	loop_add_timer(&top->loop, &top->tick);
	return status;
}

static void top_clear(struct top *top)
{
	moment_view_clear(&top->view);
	moment_clear(&top->moment);
	filter_clear(&top->filter);
	row_identity_clear(&top->followed);
	row_identity_clear(&top->shown);
	row_history_clear(&top->past);
	top_text_clear(&top->text);
	top_menu_clear(&top->menu);
	free(top->choice.user);
	act_targets_clear(&top->targets);
	deadline_threads_clear(&top->readers);
	text_free(&top->typed);
	text_free(&top->wanted);
	text_free(&top->filter_before);
	text_free(&top->message);
	if (top->marked_fd >= 0)
		close(top->marked_fd);
}

static int no_keys(int status, struct error *error)
{
	return error_set(error, status, "cannot wait for keys: %s", strerror(-status));
}

static int run(struct top *top, struct error *error)
{
	const struct move on = { .kind = MOVE_ON };
	int status = open_loop(top);

	if (status < 0)
		return no_keys(status, error);
	(void)want_shown(top);
	status = moment_source_take(top->options->source, &on, &top->moment, error);
	if (status < 0)
		return status;
	if (top->moment.is_live)
		(void)moment_await_rates(&top->moment, "rates need a second sample");
	measure_self(top);
	top_arrange(top);
	plan_tick(top);
	top_paint(top);
	status = loop_run(&top->loop, after_round, top);
	return status < 0 ? no_keys(status, error) : 0;
}

/* So much memory is kept from moment to moment: to give it back and get it again is page faults. */
#define KEPT_BYTES (32 << 20)

int top_run(const struct top_options *options, struct error *error)
{
	struct top top = {
		.options = options,
		.choice = options->choice,
		.is_paused = !options->source->kind->is_live,
		.loop = { .epoll_fd = -1, .timer_fd = -1 },
		.marked_fd = -1,
		.own_percent = -1,
	};
	const struct display_options terminal = { options->colour, !options->no_mouse };
	struct text *filter = options->choice.filter ? options->choice.filter->text : NULL;
	sigset_t old;
	int status = display_open(&terminal, error);

	if (status < 0)
		return status;
	(void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	(void)mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	top.choice.filter = &top.filter;
	if (filter && filter->length)
		status = filter_add(&top.filter, text_string(filter), error);
	sigprocmask(SIG_BLOCK, NULL, &old);
	if (status == 0)
		status = run(&top, error);
	asked_close(&top);
	verb_page_close(&top);
	display_close();
	if (top.signals.is_added)
		close(top.signals.fd);
	loop_close(&top.loop);
	sigprocmask(SIG_SETMASK, &old, NULL);
	top_clear(&top);
	return status;
}
