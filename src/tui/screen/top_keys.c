/* SPDX-License-Identifier: MIT */
/* What each key does. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "tui/act/act.h"
#include "tui/detail/cgroup_part.h"
#include "tui/screen/top_state.h"

static void move_rows(struct top *top, int64_t by)
{
	int64_t rows = (int64_t)top_rows(top), to;

	if (top->mode == MODE_TEXT) {
		to = (int64_t)top->text.first + by;
		rows = (int64_t)top->text.lines.count;
		top->text.first = to < 0     ? 0 :
				  to >= rows ? (size_t)(rows ? rows - 1 : 0) :
					       (size_t)to;
		return;
	}
	to = (int64_t)top->selected + by;
	top->selected = to < 0 || !rows ? 0 : to >= rows ? (size_t)rows - 1 : (size_t)to;
	top->follows = false;
}

static void choose_axis(struct top *top, enum group_axis axis)
{
	top->shows_jobs = false;
	top->choice.axis = axis;
	top->follows = false;
	top->selected = top->first = 0;
	memset(top->widths, 0, sizeof(top->widths));
	top_arrange(top);
}

void top_save(struct top *top)
{
	struct error error = { 0 };

	if (top->options->save && top->options->save(&top->choice, &error) < 0)
		top_say(top, true, "%s", error.message);
}

/* Rows are jobs; the tasks stay arranged, and Enter leads to those of one job. */
static void switch_jobs(struct top *top)
{
	if (top->shows_jobs) {
		choose_axis(top, AXIS_PROCESS);
		return;
	}
	top->shows_jobs = true;
	top->choice.job = 0;
	top->follows = false;
	top->selected = top->first = 0;
	top_arrange(top);
}

static void switch_tree(struct top *top)
{
	top->choice.is_forest = !top->choice.is_forest;
	choose_axis(top, AXIS_PROCESS);
	top_save(top);
}

static void follow(struct top *top)
{
	if (top->shows_jobs) {
		top_say(top, false, "processes and other rows of tasks are followed, jobs are not");
		return;
	}
	top->follows = !top->follows && top_rows(top);
	if (!top->follows)
		return;
	row_identity_clear(&top->followed);
	top_identify(top, top->selected, &top->followed);
	top_say(top, false, "the row is followed");
}

static void pause_or_play(struct top *top)
{
	const struct moment_source_kind *kind = top->options->source->kind;

	if (!kind->is_live && !kind->can_move)
		top_say(top, false, "a file has one moment only");
	else
		top->is_paused = !top->is_paused;
}

static void travel(struct top *top, struct move move)
{
	if (!top->options->source->kind->can_move) {
		top_say(top, false, "only a recording has other moments: --history shows it");
		return;
	}
	top->is_paused = true;
	top_take(top, &move);
}

void top_leave_page(struct top *top)
{
	top->text.is_detail = false;
	asked_leave(top);
	verb_page_leave(top);
}

static void leave(struct top *top)
{
	top->mode = MODE_TABLE;
	top_leave_page(top);
}

static void open_text(struct top *top, void (*show)(struct top *top))
{
	if (top->mode == MODE_TEXT) {
		leave(top);
		return;
	}
	top->text.first = top->text.shift = 0;
	show(top);
}

static void show_job_processes(struct top *top)
{
	top->choice.job = top_selected_job(top)->job.id;
	choose_axis(top, AXIS_PROCESS);
}

static void open_detail(struct top *top)
{
	if (!top_rows(top))
		return;
	if (top->shows_jobs) {
		show_job_processes(top);
		return;
	}
	row_identity_clear(&top->shown);
	top_identify(top, top->selected, &top->shown);
	asked_begin(top);
	top->graphs = (struct graphs){ 0 };
	top_show_detail(top);
}

static void seek(struct top *top)
{
	if (top->options->parse_time)
		top_prompt_open(top, PROMPT_TIME);
	else
		top_say(top, false, "only a recording has other moments: --history shows it");
}

#define PAGE_SHIFT 8
#define SHIFT_MOST 2000
#define MINUTE ((int64_t)60 * (int64_t)NS_PER_SECOND)

static const struct {
	enum key_id key;
	struct move move;
} moves[] = {
	{ KEY_OF_STEP_ON, { .kind = MOVE_ON } },
	{ KEY_OF_STEP_BACK, { .kind = MOVE_BACK } },
	{ KEY_OF_MINUTE_ON, { .kind = MOVE_BY, .ns = MINUTE } },
	{ KEY_OF_MINUTE_BACK, { .kind = MOVE_BY, .ns = -MINUTE } },
	{ KEY_OF_HOUR_ON, { .kind = MOVE_BY, .ns = 60 * MINUTE } },
	{ KEY_OF_HOUR_BACK, { .kind = MOVE_BY, .ns = -60 * MINUTE } },
	{ KEY_OF_START, { .kind = MOVE_FIRST } },
	{ KEY_OF_END, { .kind = MOVE_LAST } },
	{ KEY_OF_NEXT_ANOMALY, { .kind = MOVE_TO_NEXT_ANOMALY } },
	{ KEY_OF_LAST_ANOMALY, { .kind = MOVE_TO_LAST_ANOMALY } },
	{ KEY_OF_NEXT_EVENT, { .kind = MOVE_TO_NEXT_EVENT } },
	{ KEY_OF_LAST_EVENT, { .kind = MOVE_TO_LAST_EVENT } },
	{ KEY_OF_NEXT_EDGE, { .kind = MOVE_TO_NEXT_JOB_EDGE } },
	{ KEY_OF_LAST_EDGE, { .kind = MOVE_TO_LAST_JOB_EDGE } },
};

static const struct {
	enum key_id key;
	enum group_axis axis;
} axes_of_keys[] = {
	{ KEY_OF_PROCESSES, AXIS_PROCESS },    { KEY_OF_THREADS, AXIS_THREAD },
	{ KEY_OF_CGROUPS, AXIS_CGROUP },       { KEY_OF_USERS, AXIS_USER },
	{ KEY_OF_CONTAINERS, AXIS_CONTAINER }, { KEY_OF_SCOPES, AXIS_SCOPE },
	{ KEY_OF_PROGRAMS, AXIS_PCOMM },
};

/* Keys that only move, in the table and in pages of text: by so many rows and pages. */
static const struct {
	enum key_id key;
	int32_t rows, pages;
} steps[] = {
	{ KEY_OF_UP, -1, 0 },	    { KEY_OF_DOWN, 1, 0 },	    { KEY_OF_PAGE_UP, 0, -1 },
	{ KEY_OF_PAGE_DOWN, 0, 1 }, { KEY_OF_FIRST, INT32_MIN, 0 }, { KEY_OF_LAST, INT32_MAX, 0 },
};

static bool press_to_move(struct top *top, int key)
{
	int64_t page = top->page > 1 ? (int64_t)top->page - 1 : 1;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if ((int)steps[i].key == key) {
			move_rows(top, steps[i].rows + steps[i].pages * page);
			return true;
		}
	return false;
}

static bool is_move(int key)
{
	for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
		if ((int)moves[i].key == key)
			return true;
	return false;
}

/* Keys that look at other times or rows. */
static bool press_for_view(struct top *top, int key)
{
	for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
		if ((int)moves[i].key == key) {
			travel(top, moves[i].move);
			return true;
		}
	for (size_t i = 0; i < ARRAY_SIZE(axes_of_keys); i++)
		if ((int)axes_of_keys[i].key == key) {
			/* The same key again leads back to processes, as htop's H does. */
			choose_axis(top,
				    !top->shows_jobs && top->choice.axis == axes_of_keys[i].axis ?
					    AXIS_PROCESS :
					    axes_of_keys[i].axis);
			return true;
		}
	return false;
}

static void save_moment(struct top *top)
{
	const char *why = act_refusal(top);

	if (why)
		top_say(top, true, "%s", why);
	else
		top_prompt_open(top, PROMPT_SAVE);
}

static void find_next(struct top *top)
{
	top_find(top, 1, false);
}

static void find_before(struct top *top)
{
	top_find(top, -1, false);
}

static void shift_left(struct top *top)
{
	top->shift -= top->shift > 0;
}

static void shift_right(struct top *top)
{
	top->shift += top->shift + 1 < top->choice.metrics.count;
}

static const struct {
	enum key_id key;
	enum menu_kind menu;
} menus_of_keys[] = {
	{ KEY_OF_COLUMNS, MENU_COLUMNS },
	{ KEY_OF_SORT, MENU_SORT },
	{ KEY_OF_USER, MENU_USERS },
};

static const struct {
	enum key_id key;
	enum prompt_kind prompt;
} prompts_of_keys[] = {
	{ KEY_OF_FIND, PROMPT_FIND },
	{ KEY_OF_FILTER, PROMPT_FILTER },
};

static const struct {
	enum key_id key;
	void (*act)(struct top *top);
} acts_of_keys[] = {
	{ KEY_OF_FIND_NEXT, find_next },
	{ KEY_OF_FIND_BEFORE, find_before },
	{ KEY_OF_TREE, switch_tree },
	{ KEY_OF_JOBS, switch_jobs },
	{ KEY_OF_TIMELINE, top_timeline_switch },
	{ KEY_OF_SIGNAL, top_signal_choose },
	{ KEY_OF_LEFT, shift_left },
	{ KEY_OF_RIGHT, shift_right },
	{ KEY_OF_FOLLOW, follow },
	{ KEY_OF_PAUSE, pause_or_play },
	{ KEY_OF_MARK, act_mark },
	{ KEY_OF_COMPARE, act_compare },
	{ KEY_OF_SAVE, save_moment },
	{ KEY_OF_SEEK, seek },
};

static void press_other(struct top *top, int key)
{
	for (size_t i = 0; i < ARRAY_SIZE(menus_of_keys); i++)
		if ((int)menus_of_keys[i].key == key)
			top_menu_open(top, menus_of_keys[i].menu);
	for (size_t i = 0; i < ARRAY_SIZE(prompts_of_keys); i++)
		if ((int)prompts_of_keys[i].key == key)
			top_prompt_open(top, prompts_of_keys[i].prompt);
	for (size_t i = 0; i < ARRAY_SIZE(acts_of_keys); i++)
		if ((int)acts_of_keys[i].key == key)
			acts_of_keys[i].act(top);
	top_press_to_sort(top, key);
}

static void forget_choice(struct top *top)
{
	if (top->follows)
		top->follows = false;
	else if (top->choice.user || top->choice.job) {
		free(top->choice.user);
		top->choice.user = NULL;
		top->choice.job = 0;
		top_arrange(top);
	}
}

/* Whether the key does something else in a page of text than in the table. */
static bool press_in_page(struct top *top, int key)
{
	size_t *shift = &top->text.shift;

	switch (key) {
	case KEY_OF_LEFT:
		*shift -= *shift < PAGE_SHIFT ? *shift : PAGE_SHIFT;
		return true;
	case KEY_OF_RIGHT:
		*shift += *shift < SHIFT_MOST ? PAGE_SHIFT : 0;
		return true;
	case KEY_OF_PAUSE:
		return false;
	default:
		break;
	}
	/* All about a row goes on with time; another page, which does not, is left. */
	if (top->text.is_detail && (is_move(key) || key == KEY_OF_SIGNAL))
		return false;
	if (top->text.is_detail && key == KEY_OF_TIMELINE) {
		cgroup_part_switch(top);
		return true;
	}
	leave(top);
	return true;
}

void top_press(struct top *top, int key)
{
	if (press_to_move(top, key))
		return;
	switch (key) {
	case KEY_OF_QUIT:
		/* In a page, it leads back first, as in other programs that show pages. */
		if (top->mode == MODE_TEXT)
			leave(top);
		else
			loop_stop(&top->loop);
		return;
	case KEY_OF_HELP:
		open_text(top, top_show_keys);
		return;
	case KEY_OF_DETAIL:
		open_text(top, open_detail);
		return;
	case KEY_OF_BACK:
		/* In the table it forgets what was chosen, step by step. */
		if (top->mode == MODE_TABLE)
			forget_choice(top);
		leave(top);
		return;
	case KEY_OF_REDRAW:
		display_resize();
		return;
	default:
		break;
	}
	if (act_ask(top, key))
		return;
	if (top->mode == MODE_TEXT && press_in_page(top, key))
		return;
	if (!press_for_view(top, key))
		press_other(top, key);
}
