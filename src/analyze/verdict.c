#include "analyze/diagnosis_parts.h"

void verdict_reach(const struct run *run, struct verdict *ret)
{
	(void)run;
	*ret = (struct verdict){
		.class = CLASS_UNKNOWN,
		.cause = CAUSE_NONE,
		.hint = causes[CAUSE_NONE].hint,
	};
}
