/* SPDX-License-Identifier: MIT */
/*
 * A program whose functions are known.  At some places it notes the address, and the line of the
 * place and of each call that was inlined there, in a section of its own.
 */
#include <stdio.h>

struct mark {
	long distance; /* from here to the address */
	int lines[3];  /* the place, and the calls that lead there; 0: no further call */
	int place;     /* which one it is */
};

#define MARK(place, call, outer_call)                                                              \
	__asm__ volatile("1: nop\n"                                                                \
			 ".pushsection marks, \"a\"\n"                                             \
			 ".quad 1b - .\n"                                                          \
			 ".long %c0, %c1, %c2, %c3\n"                                              \
			 ".popsection\n" ::"i"(__LINE__),                                          \
			 "i"(call), "i"(outer_call), "i"(place))

volatile int sink;

/* A function within another, both of eight instructions around and in it; and one without a size. */
__asm__(".text\n"
	".type outer_assembly, %function\n"
	".type inner_assembly, %function\n"
	".type unsized_assembly, %function\n"
	"outer_assembly:\n"
	".rept 8\nnop\n.endr\n"
	"inner_assembly:\n"
	".rept 8\nnop\n.endr\n"
	".size inner_assembly, . - inner_assembly\n"
	"after_inner_assembly:\n"
	".rept 8\nnop\n.endr\n"
	".size outer_assembly, . - outer_assembly\n"
	"unsized_assembly:\n"
	".rept 8\nnop\n.endr\n");

int plain_function(int number);
int chain_function(int number);
int hidden_caller(int number);

__attribute__((noinline)) int plain_function(int number)
{
	sink += number;
	MARK(0, 0, 0);
	return sink * 3;
}

static inline __attribute__((always_inline)) void innermost(int number, int call, int outer_call)
{
	sink += number;
	MARK(1, call, outer_call);
	sink -= 2;
}

static inline __attribute__((always_inline)) void in_between(int number, int outer_call)
{
	if (number > 1)
		innermost(number, __LINE__, outer_call);
}

__attribute__((noinline)) int chain_function(int number)
{
	in_between(number, __LINE__);
	return sink;
}

/* Not exported, so a stripped program does not name it. */
static __attribute__((noinline)) int static_function(int number)
{
	sink -= number;
	MARK(2, 0, 0);
	return sink / 3;
}

__attribute__((noinline, visibility("hidden"))) int hidden_caller(int number)
{
	return static_function(number) + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", plain_function(argc) + chain_function(argc) + hidden_caller(argc));
	return 0;
}
