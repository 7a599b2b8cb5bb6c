/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/verdict_said.h"

#include "analyze/verdict/verdict_numbers.h"
#include "metric/unit.h"

void said_rate(const struct verdict_facts *facts, double count, const char *what, struct text *out)
{
	text_append_string(out, ", ");
	unit_format_real(out, UNIT_COUNT, facts->wall > 0 ? count * 1e9 / facts->wall : 0);
	text_format(out, " %sa second", what);
}

void said_ns(const char *what, double ns, struct text *out)
{
	text_append_string(out, what);
	unit_format_real(out, UNIT_NS, ns);
}

void said_part(const struct verdict_facts *facts, const char *what, double ns, struct text *out)
{
	text_format(out, "%s ", what);
	unit_format_share(out, share_of(ns, facts->whole));
	said_ns(" (", ns, out);
	said_ns(" of ", facts->whole, out);
	text_append_string(out, facts->path || facts->whole <= facts->wall ? " of wall time)" :
									     " of busy time)");
}
