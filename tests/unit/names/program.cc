// SPDX-License-Identifier: MIT
// Names that only C++ has.
#include <cstdio>

namespace shapes
{
volatile int sink;

template <typename Number> struct square {
	__attribute__((noinline)) static Number area(Number side)
	{
		sink = sink + 1;
		return side * side;
	}
};

__attribute__((noinline)) int operator_free(int one, const char *)
{
	return one + sink;
}
} // namespace shapes

int main(int argc, char **argv)
{
	std::printf("%ld %d\n", shapes::square<long>::area(argc),
		    shapes::operator_free(argc, argv[0]));
	return 0;
}
