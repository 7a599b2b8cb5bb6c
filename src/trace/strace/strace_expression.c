/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/error.h"
#include "trace/strace/strace.h"

/*
 * What can stand before "=" and only changes what is printed.  Without one, strace takes the expression
 * as that of trace=.
 */
static const char *const harmless[] = {
	"trace",      "t",	     "abbrev",	  "a",	       "verbose",
	"v",	      "raw",	     "x",	  "signal",    "signals",
	"s",	      "status",	     "read",	  "reads",     "r",
	"write",      "writes",	     "w",	  "decode-fd", "decode-fds",
	"decode-pid", "decode-pids", "secontext", "trace-fd",  "trace-fds",
};

/* These change what its calls do or return. */
static const char *const harmful[] = { "inject", "fault", "tamper", "poke" };

static bool is_one_of(const char *const *names, size_t count, const char *name, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
			return true;
	return false;
}

/* A word before "=" that is not in the list may do anything in another version of strace. */
int strace_expression_check(const char *expression, struct error *error)
{
	size_t length = strcspn(expression, "=");

	if (!expression[0] || strpbrk(expression, "\n\r"))
		return error_set(error, -EINVAL, "-e needs an expression, such as trace=openat");
	if (!expression[length] || is_one_of(harmless, ARRAY_SIZE(harmless), expression, length))
		return 0;
	if (is_one_of(harmful, ARRAY_SIZE(harmful), expression, length))
		return error_set(error, -EINVAL,
				 "-e %.*s= changes what the target does; taskscope only watches",
				 (int)length, expression);
	return error_set(error, -EINVAL,
			 "-e does not take '%.*s=': it takes trace=, signal=, status= and others "
			 "that choose what is printed",
			 (int)length, expression);
}
