/* SPDX-License-Identifier: MIT */
/* The findings of `doctor` on one screen: what works, the changes that would add most, what else is absent. */
#ifndef CLI_DOCTOR_BRIEF_H
#define CLI_DOCTOR_BRIEF_H

#include <stdbool.h>
#include <stdio.h>

struct changes;
struct findings;

void doctor_brief(FILE *out, bool colour, const struct findings *findings,
		  const struct changes *changes);

#endif
