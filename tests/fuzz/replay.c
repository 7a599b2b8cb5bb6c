/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target over every file of a corpus directory, in name order.  This is what an ordinary
 * build links instead of libFuzzer, so that each input that once broke a parser is tried in every
 * test run, with any compiler.
 *
 * An empty or missing corpus is a failure: it would pass without having tested anything.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads a whole file into an allocation of exactly its size, so that a sanitizer sees every overrun. */
static int replay_read(const char *path, uint8_t **ret_data, size_t *ret_size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;
	int result = -EIO;

	if (!file)
		return -errno;
	if (fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
		data = malloc(size > 0 ? (size_t)size : 1);
	if (data && fread(data, 1, (size_t)size, file) == (size_t)size) {
		*ret_data = data;
		*ret_size = (size_t)size;
		data = NULL;
		result = 0;
	}
	free(data);
	fclose(file);
	return result;
}

static int replay_file(const char *directory, const char *name)
{
	char path[4096];
	uint8_t *data = NULL;
	size_t size = 0;
	int result;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	result = replay_read(path, &data, &size);
	if (result < 0) {
		fprintf(stderr, "cannot read %s: %s\n", path, strerror(-result));
		return result;
	}
	/* A crash leaves this as the last line, which names the input to look at. */
	printf("%s, %zu bytes\n", name, size);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	int count, i, failed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: %s CORPUS-DIRECTORY\n", argv[0]);
		return 2;
	}
	count = scandir(argv[1], &entries, is_visible, alphasort);
	if (count <= 0) {
		fprintf(stderr, "no corpus in %s\n", argv[1]);
		return 1;
	}
	for (i = 0; i < count; i++) {
		failed += replay_file(argv[1], entries[i]->d_name) < 0;
		free(entries[i]);
	}
	free(entries);
	return failed > 0;
}
