/* SPDX-License-Identifier: MIT */
/* A stand-in for nvidia-smi: two GPUs and a process, and what a flag makes go wrong. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc != 3 || strcmp(argv[2], "--format=csv,noheader,nounits") != 0)
		return 2;
#ifdef HANGS
	printf("Pretend 0, GPU-0");
	fflush(stdout);
	poll(NULL, 0, -1);
#endif
#ifdef ENDLESS
	for (;;)
		puts("and so on, and so on");
#endif
#ifdef FAILS
	puts("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.");
	return FAILS;
#endif
#ifdef GARBAGE
	puts("\001\002\377, , ,,,,\n%s%n, 12");
	return 0;
#endif
	if (strncmp(argv[1], "--query-gpu=name,uuid,utilization.gpu,", 38) == 0) {
		puts("Pretend 0, GPU-0, 41, 7, 4096, 16384, 50, 61.25, 1400, 1200");
#ifdef LOST
		puts("Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost.");
		return 15;
#endif
		puts("Pretend 1, GPU-1, 0, [N/A], 1, 16384, [Not Supported], ERR!, 210, 405");
	} else if (strncmp(argv[1], "--query-compute-apps=", 21) == 0) {
		printf("GPU-0, %d, 1024\n", (int)getppid());
	}
	return 0;
}
