#include "render/run_text.h"

#include "base/text.h"

void run_text_verdict(FILE *out, const struct run *run, const struct diagnosis *diagnosis,
		      const struct run_text_options *options)
{
	(void)out;
	(void)run;
	(void)diagnosis;
	(void)options;
}

void run_text_report(FILE *out, const struct run *run, const struct diagnosis *diagnosis,
		     const struct run_text_options *options)
{
	run_text_verdict(out, run, diagnosis, options);
}

void run_text_live(struct text *out, const struct run *run, const struct run_sample *before,
		   size_t width)
{
	(void)out;
	(void)run;
	(void)before;
	(void)width;
}
