/* SPDX-License-Identifier: MIT */
/*
 * Prints functions that it has in memory, each with an address and the name that must be found for
 * it, and waits until its input ends.  Usage: sleeper [LIBRARY]
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

int own_function(int number);

__attribute__((noinline)) int own_function(int number)
{
	__asm__ volatile("" : "+r"(number));
	return number * 3;
}

static void print(const char *kind, uintptr_t address, const char *name)
{
	printf("%s %lx %s\n", kind, (unsigned long)address, name);
}

static void print_vdso(void)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + header->e_shoff);

	for (int i = 0; i < header->e_shnum; i++) {
		const Elf64_Sym *symbols = (const Elf64_Sym *)(image + sections[i].sh_offset);
		const char *names = image + sections[sections[i].sh_link].sh_offset;

		for (size_t j = 0; sections[i].sh_type == SHT_DYNSYM &&
				   j < sections[i].sh_size / sizeof(*symbols);
		     j++)
			if (strstr(names + symbols[j].st_name, "clock_gettime"))
				return print("vdso", (uintptr_t)image + symbols[j].st_value + 1,
					     "clock_gettime");
	}
}

/* Code as a JIT compiler makes it: memory without a file, and a line in the map. */
static void print_jit(void)
{
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return;
	fprintf(map, "%lx 40 made up: fib()\n", (unsigned long)memory);
	fclose(map);
	print("jit", (uintptr_t)memory + 0x20, "made up: fib()");
	print("unknown", (uintptr_t)memory + 0x40, "-");
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;

	print("program", (uintptr_t)own_function + 1, "own_function");
	if (library)
		print("library", (uintptr_t)dlsym(library, "plain_function") + 1, "plain_function");
	print("libc", (uintptr_t)dlsym(RTLD_DEFAULT, "pthread_create") + 1, "pthread_create");
	print_vdso();
	print_jit();
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return own_function(0);
}
