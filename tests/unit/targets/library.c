/* SPDX-License-Identifier: MIT */
/* A library with a thread-local variable; FUNCTION tells where it is in the calling thread. */
void *FUNCTION(void);

static __thread char first = 1;
static __thread _Alignas(128) char variable[200];

void *FUNCTION(void)
{
	first++;
	return variable;
}
