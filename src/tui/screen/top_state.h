/* SPDX-License-Identifier: MIT */
/*
 * What the files of the screen share: its state, and what each file does with it.
 */
#ifndef TUI_TOP_STATE_H
#define TUI_TOP_STATE_H

#include "base/loop.h"
#include "base/text.h"
#include "host/deadline_run.h"
#include "tui/act/act.h"
#include "tui/act/verb_page.h"
#include "tui/detail/asked.h"
#include "tui/detail/graphs.h"
#include "tui/moment/moment.h"
#include "tui/moment/moment_source.h"
#include "tui/screen/display.h"
#include "tui/screen/keys.h"
#include "tui/screen/row_history.h"
#include "tui/screen/text_page.h"
#include "tui/screen/top.h"

enum top_mode {
	MODE_TABLE,
	MODE_TEXT, /* the keys, all about a row, or what a verb prints */
	MODE_MENU,
	MODE_PROMPT, /* a line is typed, below the table */
};

enum menu_kind {
	MENU_SORT,
	MENU_COLUMNS,
	MENU_SIGNALS,
	MENU_USERS,
};

struct menu {
	enum menu_kind kind;
	ARRAY_OF(int) items; /* metrics, numbers of signals, or places of names */
	ARRAY_OF(char *) names;
	size_t selected, page;
};

enum prompt_kind {
	PROMPT_FIND,
	PROMPT_FILTER,
	PROMPT_TIME,
	PROMPT_CONFIRM,
	PROMPT_SAVE,
	PROMPT_PROFILE,
};

/* How many events are shown below the table. */
enum timeline_size {
	TIMELINE_FEW,
	TIMELINE_MANY,
	TIMELINE_NONE,
};

/* Which task a row is of; it outlasts moments. */
struct row_identity {
	int32_t tgid, tid; /* tid 0: the whole process */
	uint64_t start_time_ns;
	char *key; /* of other groups */
};

/* A column of the table as it was painted, for clicks. */
struct painted_column {
	int left, right;
	struct group_sort sort;
};

#define COLUMNS_MOST 128

struct top {
	const struct top_options *options;
	struct moment moment;
	struct moment_view view;
	struct view_choice choice;
	struct filter filter;
	struct loop loop;
	struct loop_fd input, signals;
	struct loop_timer tick;
	enum top_mode mode;
	size_t selected, first;	    /* rows: the marked one, and the first on the screen */
	size_t shift;		    /* metrics that are left of the screen */
	size_t page;		    /* rows on the screen */
	int table_row;		    /* where the titles are */
	bool needed[METRIC_STORED]; /* of the last sample and the next: what is shown needs these */
	bool is_paused;
	bool follows;
	struct row_identity followed;
	bool shows_jobs; /* rows are jobs and their steps instead of tasks */
	enum timeline_size timeline;
	struct row_history past;
	struct text_page text;
	struct row_identity shown; /* whose detail it is */
	struct menu menu;
	enum prompt_kind prompt;
	struct text typed, wanted; /* what is typed now; what was searched for */
	struct text filter_before; /* what Escape leads back to */
	struct text message;	   /* said once, until the next key */
	bool message_is_bad;
	void (*confirmed)(struct top *top); /* what y does */
	const char *unconfirmed;	    /* what is said otherwise */
	int signal_number;		    /* that waits to be confirmed */
	struct act_targets targets;	    /* and to whom it goes */
	struct row_identity profiled;	    /* whose profile waits for a name; also traced */
	struct verb_page verb;
	struct asked asked[ASKED_COUNT];
	struct graphs graphs;		 /* of the detail */
	bool cgroup_unfolded;		 /* in the detail */
	struct deadline_threads readers; /* of files of others */
	int marked_fd;			 /* of a moment, as a file; -1: none */
	int widths[COLUMNS_MOST]; /* of the metrics; columns do not shrink from moment to moment */
	struct painted_column
		painted[COLUMNS_MOST + 2]; /* besides metrics the number and the name */
	size_t painted_count;
	uint64_t cpu_ns, cpu_read_ns; /* of the program itself */
	double own_percent;	      /* below 0: not known yet */
};

/* Says something in the last line but one, until the next key. */
void top_say(struct top *top, bool is_bad, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Takes another moment, and shows it; says why when there is none. */
void top_take(struct top *top, const struct move *move);
/* Makes the rows of the moment anew, after another choice. */
void top_arrange(struct top *top);
/* Brings all rows in order, where only the first ones are. */
void top_order_all(struct top *top);
/* Which task or group a row is; the caller frees it. */
void top_identify(const struct top *top, size_t row, struct row_identity *ret);
void row_identity_clear(struct row_identity *identity);
/* Keeps what was chosen for the next time; says why it cannot. */
void top_save(struct top *top);
/* The row of it, or -1. */
int64_t top_find_identity(const struct top *top, const struct row_identity *identity);
size_t top_rows(const struct top *top);
/* Marks the row that is followed; the marked row is one that is there. */
void top_keep_place(struct top *top);
/* The task that a row of the axes process and thread is of. */
uint32_t top_task(const struct top *top, size_t row);
/* What a row is called; escaped. */
void top_row_name(const struct top *top, size_t row, struct text *out);

void top_paint(struct top *top);
void top_paint_header(struct top *top, int rows);
int top_header_rows(const struct top *top);
void top_paint_table(struct top *top, int row, int rows);
/* Keeps the marked row on the screen, with so many rows for the titles and the table. */
void top_keep_selected(struct top *top, int rows);
void top_paint_jobs(struct top *top, int row, int rows);
size_t top_job_rows(const struct top *top);
/* The job of a row, and the step if it is of one; NULL: there is no such row. */
const struct moment_job *top_job_at(const struct top *top, size_t row,
				    const struct job_step **ret_step);
/* The job that is marked; NULL where rows are not jobs, or there is none. */
const struct moment_job *top_selected_job(const struct top *top);
void top_job_name(const struct top *top, size_t row, struct text *out);
bool top_has_ruler(const struct top *top);
/* "10:05:59" */
void top_append_time_of_day(struct text *out, uint64_t unix_ns);
void top_paint_ruler(struct top *top, int row);
int top_timeline_rows(const struct top *top);
void top_timeline_switch(struct top *top);
void top_paint_timeline(struct top *top, int row, int rows);
/* "[||||      ] 2/5", or without a total "[||||      ] ~41 %". */
void top_append_progress(struct text *out, double share, uint64_t done, uint64_t total);
void top_paint_text(struct top *top, int row, int rows);
void top_paint_menu(struct top *top, int row, int rows);

void top_press(struct top *top, int key);
void top_press_to_sort(struct top *top, int key);
/* The key that decides; a click on its title turns it round. */
struct group_sort top_current_sort(const struct top *top);
bool top_is_sorted_by(const struct top *top, const struct group_sort *sort);
void top_sort_by(struct top *top, struct group_sort sort);
void top_sort_by_title(struct top *top, struct group_sort sort);
/* Ends what a page of text asked for, before something else is shown. */
void top_leave_page(struct top *top);
void top_menu_clear(struct menu *menu);
void top_menu_open(struct top *top, enum menu_kind kind);
void top_menu_input(struct top *top, const struct input *input, int key);
void top_prompt_open(struct top *top, enum prompt_kind kind);
void top_prompt_input(struct top *top, const struct input *input);
const char *top_prompt_label(const struct top *top);
void top_find(struct top *top, int direction, bool stays);
void top_choose_filter(struct top *top, const char *text, bool is_meant);

void top_show_keys(struct top *top);
void top_show_detail(struct top *top);
/* Asks which signal, then whether; sends it. */
void top_signal_choose(struct top *top);
void top_signal_ask(struct top *top, int number);
/* Asks for y or n; `confirmed` is called after a y, else it says so. */
void top_confirm(struct top *top, void (*confirmed)(struct top *top), const char *unconfirmed);

#endif
