/* SPDX-License-Identifier: MIT */
#include "model/scope/scope_survey.h"

void scope_survey_process_clear(struct scope_survey_process *process)
{
	scopes_free(&process->scopes);
	array_free(&process->threads);
}

void scope_survey_free(struct scope_survey *survey)
{
	for (size_t i = 0; i < survey->processes.count; i++)
		scope_survey_process_clear(&survey->processes.data[i]);
	array_free(&survey->processes);
}
