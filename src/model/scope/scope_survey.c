/* SPDX-License-Identifier: MIT */
#include "model/scope/scope_survey.h"

void scope_survey_free(struct scope_survey *survey)
{
	for (size_t i = 0; i < survey->processes.count; i++) {
		scopes_free(&survey->processes.data[i].scopes);
		array_free(&survey->processes.data[i].threads);
	}
	array_free(&survey->processes);
}
