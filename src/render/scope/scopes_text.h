/* SPDX-License-Identifier: MIT */
/*
 * Shows the scopes of programs to people: a line for each process, thread and
 * scope.
 */
#ifndef RENDER_SCOPES_TEXT_H
#define RENDER_SCOPES_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "render/terminal.h"

struct scope_survey;

/* 0, or -ENOMEM. */
int scopes_text(FILE *out, const struct scope_survey *survey, bool with_statistics,
		const struct terminal *terminal);

#endif
