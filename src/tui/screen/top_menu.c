/* SPDX-License-Identifier: MIT */
/* Lists to choose from: the column to sort by, the columns that are shown, a signal. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/kernel_names.h"
#include "model/snapshot/snapshot.h"
#include "tui/screen/top_state.h"

static bool is_shown(const struct top *top, int metric)
{
	return selection_has(&top->choice.metrics, (enum metric_id)metric);
}

/* What the list of orders sorts by: a metric, or below 0 something else. */
static struct group_sort sort_of(int item)
{
	return item < 0 ? group_sort_by((enum group_order) - item) :
			  (struct group_sort){ .by = ORDER_METRIC, .metric = (enum metric_id)item };
}

/* Those that are shown come first, in their order; further ones only if there is something of them. */
static void add_metrics(struct top *top, bool only_shown)
{
	const struct selection *shown = &top->choice.metrics;
	int status = 0;

	for (size_t i = 0; i < shown->count && status == 0; i++)
		if (!only_shown || metrics[shown->ids[i]].kind != KIND_CATEGORY)
			status = array_append(&top->menu.items, (int)shown->ids[i]);
	for (int id = 0; id < METRIC_COUNT && !only_shown && status == 0; id++)
		if (!is_shown(top, id) && !metric_is_only_traced((enum metric_id)id))
			status = array_append(&top->menu.items, id);
	for (int order = ORDER_METRIC + 1; order < GROUP_ORDER_COUNT && only_shown && status == 0;
	     order++)
		status = array_append(&top->menu.items, -order);
}

static void add_signals(struct top *top)
{
	static const int usual[] = { SIGTERM, SIGINT,  SIGKILL, SIGHUP,	 SIGSTOP, SIGCONT, SIGQUIT,
				     SIGABRT, SIGUSR1, SIGUSR2, SIGALRM, SIGPIPE, SIGWINCH };
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(usual) && status == 0; i++)
		status = array_append(&top->menu.items, usual[i]);
}

void top_menu_clear(struct menu *menu)
{
	for (size_t i = 0; i < menu->names.count; i++)
		free(menu->names.data[i]);
	array_free(&menu->names);
	array_free(&menu->items);
}

static int compare_names(const void *first, const void *second)
{
	return strcmp(*(char *const *)first, *(char *const *)second);
}

static bool has_name(const struct menu *menu, const char *name)
{
	for (size_t i = 0; i < menu->names.count; i++)
		if (strcmp(menu->names.data[i], name) == 0)
			return true;
	return false;
}

/* Those that have processes; the first one is everybody. */
static void add_users(struct top *top)
{
	const struct snapshot *tasks = top->moment.tasks;
	struct menu *menu = &top->menu;
	uint32_t last = 0;

	for (uint32_t row = 0; row < tasks->process_count; row++) {
		uint32_t user = tasks->processes[row].user;
		char *name;

		if (!user || user == last || has_name(menu, snapshot_text(tasks, user)))
			continue;
		last = user;
		name = strdup(snapshot_text(tasks, user));
		if (!name || array_append(&menu->names, name) < 0)
			free(name);
	}
	if (menu->names.count)
		qsort(menu->names.data, menu->names.count, sizeof(char *), compare_names);
	for (int i = 0; i <= (int)menu->names.count; i++)
		if (array_append(&menu->items, i - 1) < 0)
			return;
}

void top_menu_open(struct top *top, enum menu_kind kind)
{
	top_leave_page(top);
	top_menu_clear(&top->menu);
	top->menu.kind = kind;
	top->menu.selected = 0;
	top->mode = MODE_MENU;
	if (kind == MENU_SIGNALS)
		add_signals(top);
	else if (kind == MENU_USERS)
		add_users(top);
	else
		add_metrics(top, kind == MENU_SORT);
}

/* Shows a column or hides it; the last one stays. */
static void toggle(struct top *top, int metric)
{
	struct selection *shown = &top->choice.metrics;
	size_t kept = 0;

	if (!is_shown(top, metric)) {
		selection_add(shown, (enum metric_id)metric);
	} else if (shown->count > 1) {
		for (size_t i = 0; i < shown->count; i++)
			if (shown->ids[i] != (enum metric_id)metric)
				shown->ids[kept++] = shown->ids[i];
		shown->count = kept;
	}
}

/* Moves a shown column to the left or right of its neighbour; the list goes along. */
static void shift_column(struct top *top, int direction)
{
	struct selection *shown = &top->choice.metrics;
	size_t at = 0, other;
	int metric = top->menu.items.data[top->menu.selected];
	enum metric_id moved;

	while (at < shown->count && (int)shown->ids[at] != metric)
		at++;
	other = direction < 0 ? at - 1 : at + 1;
	if (at >= shown->count || other >= shown->count)
		return;
	moved = shown->ids[at];
	shown->ids[at] = shown->ids[other];
	shown->ids[other] = moved;
	top->menu.items.count = 0;
	add_metrics(top, false);
	for (size_t i = 0; i < top->menu.items.count; i++)
		if (top->menu.items.data[i] == metric)
			top->menu.selected = i;
}

static void choose(struct top *top)
{
	int item = top->menu.items.count ? top->menu.items.data[top->menu.selected] : 0;

	if (top->menu.kind == MENU_COLUMNS) {
		if (top->menu.items.count)
			toggle(top, item);
		return;
	}
	top->mode = MODE_TABLE;
	if (!top->menu.items.count)
		return;
	if (top->menu.kind == MENU_SIGNALS) {
		top_signal_ask(top, item);
		return;
	}
	if (top->menu.kind == MENU_USERS) {
		free(top->choice.user);
		top->choice.user = item < 0 ? NULL : strdup(top->menu.names.data[item]);
		top->selected = 0;
		top_arrange(top);
		return;
	}
	top_sort_by(top, sort_of(item));
}

static void leave_menu(struct top *top)
{
	top->mode = MODE_TABLE;
	if (top->menu.kind == MENU_COLUMNS)
		top_save(top);
	memset(top->widths, 0, sizeof(top->widths));
	top->shift = 0;
	top_arrange(top);
}

void top_menu_input(struct top *top, const struct input *input, int key)
{
	size_t last = top->menu.items.count ? top->menu.items.count - 1 : 0;
	size_t *selected = &top->menu.selected, page = top->menu.page;

	if (input->kind == INPUT_CLICK)
		return;
	if (key == KEY_OF_UP)
		*selected -= *selected > 0;
	else if (key == KEY_OF_DOWN)
		*selected += *selected < last;
	else if (key == KEY_OF_PAGE_UP)
		*selected -= *selected < page ? *selected : page;
	else if (key == KEY_OF_PAGE_DOWN)
		*selected = *selected + page < last ? *selected + page : last;
	else if (key == KEY_OF_FIRST)
		*selected = 0;
	else if (key == KEY_OF_LAST)
		*selected = last;
	else if (key == KEY_OF_DETAIL || key == KEY_OF_PAUSE)
		choose(top);
	else if (top->menu.kind == MENU_COLUMNS && (key == KEY_OF_SORT_LEFT || key == KEY_OF_LEFT))
		shift_column(top, -1);
	else if (top->menu.kind == MENU_COLUMNS &&
		 (key == KEY_OF_SORT_RIGHT || key == KEY_OF_RIGHT))
		shift_column(top, 1);
	else if (key == KEY_OF_BACK || key == KEY_OF_QUIT || key == KEY_OF_COLUMNS ||
		 key == KEY_OF_SORT || key == KEY_OF_SIGNAL || key == KEY_OF_USER)
		leave_menu(top);
}

static const char *menu_title(const struct top *top)
{
	switch (top->menu.kind) {
	case MENU_SORT:
		return "Sort by (Enter):";
	case MENU_COLUMNS:
		return "Columns: Space shows or hides, < and > move, Escape ends";
	case MENU_USERS:
		return "Processes of (Enter):";
	default:
		return "Signal to send (Enter):";
	}
}

static const char *const order_titles[GROUP_ORDER_COUNT] = {
	[ORDER_TASKS] = "tasks                        How many threads the row has.",
	[ORDER_KEY] = "name                         What the row is called, from a to z.",
	[ORDER_PID] = "pid                          The number of the process or thread.",
};

static void append_item(const struct top *top, int item, struct text *out)
{
	const struct menu *menu = &top->menu;
	char name[KERNEL_NAME_SIZE];

	if (menu->kind == MENU_SIGNALS)
		text_format(out, "%2d %s", item, signal_name(item, name));
	else if (menu->kind == MENU_USERS && item < 0)
		text_append_string(out, "all users");
	else if (menu->kind == MENU_USERS)
		text_append_escaped(out, menu->names.data[item], strlen(menu->names.data[item]));
	else if (menu->kind == MENU_SORT && item < 0)
		text_append_string(out, order_titles[-item]);
	else
		text_format(out, "%s%-28s %s",
			    menu->kind == MENU_SORT ? "" :
			    is_shown(top, item)	    ? "[x] " :
						      "[ ] ",
			    metrics[item].name, metrics[item].help);
}

void top_paint_menu(struct top *top, int row, int rows)
{
	const struct menu *menu = &top->menu;
	size_t page = rows > 1 ? (size_t)rows - 1 : 1;
	size_t first = menu->selected >= page ? menu->selected - page + 1 : 0;

	top->menu.page = page;
	display_put(row++, 0, display_columns(), STYLE_TITLES, false, menu_title(top));
	for (size_t i = first; i < menu->items.count && i - first < page; i++) {
		CLEANUP(text_free) struct text line = { 0 };

		append_item(top, menu->items.data[i], &line);
		display_put(row, 0, display_columns(), STYLE_PLAIN, i == menu->selected,
			    text_string(&line));
		display_fill(row++, 0, i == menu->selected);
	}
}
