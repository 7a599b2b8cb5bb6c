/* SPDX-License-Identifier: MIT */
/*
 * Waits for locks and threads in a way that its name says, for ever: wait_workload ROLE.  Threads
 * are called after what they do.  It prints "ready" when each thread that will block is about to.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NEED(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "wait_workload: line %d: %s\n", __LINE__, #condition);     \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define RING_MAX 12

static pthread_mutex_t locks[RING_MAX];
static pthread_barrier_t all_have_one;
static unsigned ring;

static void init_locks(int protocol, int robust)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, protocol);
	pthread_mutexattr_setrobust(&attributes, robust);
	for (int i = 0; i < RING_MAX; i++)
		NEED(pthread_mutex_init(&locks[i], &attributes) == 0);
}

static void name_thread(const char *begin, unsigned number)
{
	char name[16];

	snprintf(name, sizeof(name), "%s-%u", begin, number);
	prctl(PR_SET_NAME, name);
}

/* Takes a lock of its own, then that of the next. */
static void *take_two(void *argument)
{
	unsigned own = (unsigned)(size_t)argument;

	name_thread("ring", own);
	NEED(pthread_mutex_lock(&locks[own]) == 0);
	pthread_barrier_wait(&all_have_one);
	NEED(pthread_mutex_lock(&locks[(own + 1) % ring]) == 0);
	return NULL;
}

static pthread_t start(void *(*body)(void *), size_t argument)
{
	pthread_t thread;

	NEED(pthread_create(&thread, NULL, body, (void *)argument) == 0);
	return thread;
}

/* The main thread joins the first: it waits for the deadlock, but is not part of it. */
static void deadlock(unsigned count)
{
	pthread_t first;

	ring = count;
	pthread_barrier_init(&all_have_one, NULL, count + 1);
	first = start(take_two, 0);
	for (unsigned i = 1; i < count; i++)
		start(take_two, i);
	pthread_barrier_wait(&all_have_one);
	puts("ready");
	pthread_join(first, NULL);
}

static void act_abba(void)
{
	init_locks(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	deadlock(2);
}

static void act_three(void)
{
	init_locks(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	deadlock(3);
}

static void act_twelve(void)
{
	init_locks(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	deadlock(12);
}

static void act_robust(void)
{
	init_locks(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
	deadlock(2);
}

static void act_self(void)
{
	init_locks(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	pthread_mutex_lock(&locks[0]);
	puts("ready");
	pthread_mutex_lock(&locks[0]);
}

static void *hold(void *unused)
{
	name_thread("holder", 0);
	pthread_mutex_lock(&locks[0]);
	pthread_barrier_wait(&all_have_one);
	for (;;)
		sleep(1000);
	return unused;
}

/* One thread sleeps with a lock, the main thread wants it. */
static void want(int protocol, int robust)
{
	init_locks(protocol, robust);
	pthread_barrier_init(&all_have_one, NULL, 2);
	start(hold, 0);
	pthread_barrier_wait(&all_have_one);
	puts("ready");
	pthread_mutex_lock(&locks[0]);
}

static void act_held(void)
{
	want(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
}

static void act_held_pi(void)
{
	want(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
}

static void act_held_robust(void)
{
	want(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
}

/* It waits for itself, but not for ever. */
static void act_timed(void)
{
	struct timespec until;

	init_locks(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	pthread_mutex_lock(&locks[0]);
	puts("ready");
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1000;
	pthread_mutex_timedlock(&locks[0], &until);
}

static pthread_rwlock_t shelf = PTHREAD_RWLOCK_INITIALIZER;

static void *hold_for_writing(void *unused)
{
	name_thread("writer", 0);
	pthread_rwlock_wrlock(&shelf);
	pthread_barrier_wait(&all_have_one);
	for (;;)
		sleep(1000);
	return unused;
}

static void act_rwlock(void)
{
	pthread_barrier_init(&all_have_one, NULL, 2);
	start(hold_for_writing, 0);
	pthread_barrier_wait(&all_have_one);
	puts("ready");
	pthread_rwlock_rdlock(&shelf);
}

static void *idle(void *unused)
{
	name_thread("idle", 0);
	for (;;)
		sleep(1000);
	return unused;
}

static void act_join(void)
{
	pthread_t thread = start(idle, 0);

	puts("ready");
	pthread_join(thread, NULL);
}

/* The kernel clears the word of a thread's exit: a thread that joins it waits for its holder. */
static void *take_after_join(void *argument)
{
	name_thread("joined", 0);
	pthread_barrier_wait(&all_have_one);
	pthread_mutex_lock(&locks[0]);
	return argument;
}

static void act_join_ring(void)
{
	pthread_t thread;

	init_locks(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	pthread_mutex_lock(&locks[0]);
	pthread_barrier_init(&all_have_one, NULL, 2);
	thread = start(take_after_join, 0);
	pthread_barrier_wait(&all_have_one);
	puts("ready");
	pthread_join(thread, NULL);
}

static void act_semaphore(void)
{
	sem_t *semaphore = mmap(NULL, sizeof(*semaphore), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	NEED(semaphore != MAP_FAILED && sem_init(semaphore, 1, 0) == 0);
	puts("ready");
	sem_wait(semaphore);
}

static void act_condition(void)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&lock);
	puts("ready");
	pthread_cond_wait(&condition, &lock);
}

/* A process-shared mutex that the parent holds: its owner is another process. */
static void act_shared(void)
{
	pthread_mutex_t *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attributes;

	NEED(shared != MAP_FAILED);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	NEED(pthread_mutex_init(shared, &attributes) == 0);
	pthread_mutex_lock(shared);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, 9);
		name_thread("wants", 0);
		printf("ready %d\n", getpid());
		pthread_mutex_lock(shared);
	}
	for (;;)
		sleep(1000);
}

static const struct {
	const char *name;
	void (*act)(void);
} roles[] = {
	{ "abba", act_abba },		{ "three", act_three },
	{ "twelve", act_twelve },	{ "robust", act_robust },
	{ "held_pi", act_held_pi },	{ "held_robust", act_held_robust },
	{ "self", act_self },		{ "held", act_held },
	{ "timed", act_timed },		{ "rwlock", act_rwlock },
	{ "join", act_join },		{ "join_ring", act_join_ring },
	{ "semaphore", act_semaphore }, { "condition", act_condition },
	{ "shared", act_shared },
};

int main(int count, char **arguments)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; count == 2 && i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(roles[i].name, arguments[1]) == 0)
			roles[i].act();
	fprintf(stderr, "wait_workload: no role, or its wait ended\n");
	return 1;
}
