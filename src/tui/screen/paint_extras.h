/* SPDX-License-Identifier: MIT */
/* Columns besides the metrics, as far as there is room for them: the past, the wait, progress and scope. */
#ifndef TUI_PAINT_EXTRAS_H
#define TUI_PAINT_EXTRAS_H

#include <stdbool.h>
#include <stddef.h>

struct text;
struct top;
struct view_rows;

#define NAME_LEAST 12

/* The columns of struct view_rows before its metrics. */
enum {
	CELL_TASKS,
	CELL_SCOPE,
	CELL_METRICS,
};

struct extras {
	bool has_graph, has_progress;
	int wait_width, scope_width; /* 0: none */
};

/* On a narrow screen only the name is shown. */
bool extras_have_room(void);
struct extras extras_choose(const struct top *top, const struct view_rows *rows);
int extras_width(const struct extras *extras);
/* Each paints in a row from a column on, and returns where the line goes on. */
int extras_paint_titles(int row, int column, const struct extras *extras);
int extras_paint(struct top *top, const struct view_rows *rows, const struct extras *extras,
		 int row, size_t line, int column);
/* A cell of the table as text. */
void extras_cell(const struct view_rows *rows, size_t row, size_t column, struct text *out);

#endif
