/*
 * A program whose heartbeat is looked at.  Usage: beating SCENE; it goes on until its standard input
 * ends, and prints who does what, one "NAME TID" a line.  Everything else is up to the environment.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <taskscope.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_ending;

static void say(const char *name, unsigned long long value)
{
	printf("%s %llu\n", name, value);
	fflush(stdout);
}

static bool goes_on(void)
{
	return !__atomic_load_n(&is_ending, __ATOMIC_ACQUIRE);
}

static void sleep_ms(unsigned int milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000L };

	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		;
}

/* A byte of the standard input, or -1 at its end. */
static int next_command(void)
{
	char command;

	return read(STDIN_FILENO, &command, 1) == 1 ? command : -1;
}

static void wait_for_end(void)
{
	while (next_command() >= 0)
		;
	__atomic_store_n(&is_ending, true, __ATOMIC_RELEASE);
}

static bool has_ended(unsigned int patience_ms)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, (int)patience_ms) > 0 && next_command() < 0;
}

static void start_thread(void *(*work)(void *context), void *context)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, context))
		abort();
	pthread_detach(thread);
}

static void idle(void)
{
	wait_for_end();
}

static void dump(void)
{
	taskscope_dump();
	wait_for_end();
}

static void *hold_scopes(void *context)
{
	char name[16];
	int number = (int)(intptr_t)context;

	snprintf(name, sizeof(name), "worker-%d", number);
	taskscope_thread(name);
	TASKSCOPE("outer");
	snprintf(name, sizeof(name), "inner %d", number);
	taskscope_enter(name);
	say("worker", (unsigned long long)gettid());
	while (goes_on())
		sleep_ms(10);
	return NULL;
}

/* Twelve threads, the first one with the oldest scope. */
static void phases(void)
{
	for (intptr_t i = 0; i < 12; i++) {
		start_thread(hold_scopes, (void *)i);
		sleep_ms(20);
	}
	say("ready", 12);
	wait_for_end();
}

static void count_to(uint64_t total)
{
	struct taskscope_progress rows = taskscope_begin("solve", total);

	say("main", (unsigned long long)gettid());
	while (!has_ended(5)) {
		TASKSCOPE("row");
		taskscope_advance(&rows, 1);
	}
	taskscope_end(&rows);
}

static void progress(void)
{
	count_to(1000000);
}

static void endless(void)
{
	count_to(0);
}

static void *burn(void *context)
{
	pthread_setname_np(pthread_self(), context ? context : "burner");
	say("burner", (unsigned long long)gettid());
	while (goes_on())
		;
	return NULL;
}

static void burner(void)
{
	start_thread(burn, NULL);
	wait_for_end();
}

static uint64_t clock_ms(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void spin_for(uint64_t milliseconds)
{
	uint64_t start = clock_ms(CLOCK_MONOTONIC), now = start;
	uint64_t cpu = clock_ms(CLOCK_THREAD_CPUTIME_ID);

	while (goes_on() && now < start + milliseconds)
		now = clock_ms(CLOCK_MONOTONIC);
	if (now > start)
		say("share", (clock_ms(CLOCK_THREAD_CPUTIME_ID) - cpu) * 100 / (now - start));
}

static void *spin_in_scope(void *context)
{
	(void)context;
	taskscope_thread("spinner");
	say("spinner", (unsigned long long)gettid());
	while (goes_on()) {
		TASKSCOPE("spin");
		spin_for(2000);
	}
	return NULL;
}

/* Anew every two seconds: on a machine with much to do, not each time is a busy one. */
static void spin(void)
{
	start_thread(spin_in_scope, NULL);
	wait_for_end();
}

static void *want_lock(void *context)
{
	(void)context;
	taskscope_thread("locker");
	say("locker", (unsigned long long)gettid());
	while (goes_on()) {
		TASKSCOPE("take lock");
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		taskscope_idle();
		sleep_ms(100000);
	}
	return NULL;
}

/* A byte lets the lock go. */
static void deadlock(void)
{
	pthread_mutex_lock(&lock);
	start_thread(want_lock, NULL);
	next_command();
	pthread_mutex_unlock(&lock);
	wait_for_end();
}

static void *wait_idle(void *context)
{
	(void)context;
	TASKSCOPE("pool");
	taskscope_idle();
	say("pool", (unsigned long long)gettid());
	while (goes_on())
		sleep_ms(10);
	return NULL;
}

static void pool(void)
{
	start_thread(wait_idle, NULL);
	wait_for_end();
}

static void *work_steadily(void *context)
{
	struct taskscope_progress work = taskscope_begin("work", 0);

	(void)context;
	say("steady", (unsigned long long)gettid());
	while (goes_on()) {
		sleep_ms(20);
		taskscope_advance(&work, 1);
	}
	return NULL;
}

static void steady(void)
{
	start_thread(work_steadily, NULL);
	wait_for_end();
}

/* Each byte is a step. */
static void commanded(void)
{
	struct taskscope_progress steps = taskscope_begin("obey", 0);

	while (next_command() >= 0) {
		taskscope_advance(&steps, 1);
		say("step", 0);
	}
	taskscope_end(&steps);
}

static uint64_t own_cpu_ms(void)
{
	return clock_ms(CLOCK_THREAD_CPUTIME_ID);
}

/* A step takes 20 ms of CPU time, however long that takes. */
static void *work_by_cpu(void *context)
{
	struct taskscope_progress work = taskscope_begin("work", 0);

	(void)context;
	say("worker", (unsigned long long)gettid());
	while (goes_on()) {
		for (uint64_t end = own_cpu_ms() + 20; own_cpu_ms() < end && goes_on();)
			;
		taskscope_advance(&work, 1);
	}
	return NULL;
}

static void quota(void)
{
	start_thread(work_by_cpu, NULL);
	wait_for_end();
}

static void stay_on_cpu(int number)
{
	cpu_set_t only;

	CPU_ZERO(&only);
	CPU_SET(number, &only);
	pthread_setaffinity_np(pthread_self(), sizeof(only), &only);
}

static int any_cpu(void)
{
	cpu_set_t allowed;
	int number = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	while (!CPU_ISSET(number, &allowed))
		number++;
	return number;
}

static void *starve_beside(void *context)
{
	struct sched_param parameters = { 0 };

	(void)context;
	taskscope_thread("hungry");
	stay_on_cpu(any_cpu());
	TASKSCOPE("starve");
	say("hungry", (unsigned long long)gettid());
	sched_setscheduler(0, SCHED_IDLE, &parameters);
	while (goes_on())
		;
	return NULL;
}

static void *burn_there(void *context)
{
	stay_on_cpu(any_cpu());
	return burn(context);
}

static void starve(void)
{
	start_thread(burn_there, NULL);
	start_thread(burn_there, NULL);
	start_thread(starve_beside, NULL);
	wait_for_end();
}

/* Workers that only count, while nobody reads the lines. */
static void *count_rounds(void *context)
{
	uint64_t *rounds = context;

	while (goes_on()) {
		TASKSCOPE("round");
		__atomic_fetch_add(rounds, 1, __ATOMIC_RELAXED);
		sleep_ms(1);
	}
	return NULL;
}

/* A byte asks for the number of rounds. */
static void rounds(void)
{
	static uint64_t count;

	start_thread(count_rounds, &count);
	while (next_command() >= 0)
		say("rounds", __atomic_load_n(&count, __ATOMIC_RELAXED));
	taskscope_stop();
	say("stopped", 0);
}

/* A scope whose limit is its own, and one that has none, around it. */
static void limits(void)
{
	struct taskscope_scope outer = taskscope_enter("without limit");
	struct taskscope_scope inner;

	taskscope_limit(outer, TASKSCOPE_NEVER);
	inner = taskscope_enter("own limit");
	taskscope_limit(inner, 100);
	wait_for_end();
	taskscope_leave(inner);
	taskscope_leave(outer);
}

static void labels(void)
{
	char label[] = "bell \a \"quoted\" back\\slash \xff gr\xc3\xbc\xc3\x9f";

	taskscope_thread("na\nme");
	taskscope_enter(label);
	wait_for_end();
}

static void statistics(void)
{
	for (int i = 0; i < 50; i++) {
		TASKSCOPE("short");
	}
	for (int i = 0; i < 3; i++) {
		TASKSCOPE("long");
		TASKSCOPE("long, inside");
		for (uint64_t end = own_cpu_ms() + 300; own_cpu_ms() < end;)
			;
	}
	wait_for_end();
}

/* Twenty threads that stall at once. */
static void crowd(void)
{
	for (int i = 0; i < 20; i++)
		start_thread(hold_scopes, (void *)(intptr_t)i);
	wait_for_end();
}

static void *end_in_stall(void *context)
{
	TASKSCOPE("doomed");
	(void)context;
	sleep_ms(1500);
	return NULL;
}

static void doomed(void)
{
	start_thread(end_in_stall, NULL);
	wait_for_end();
}

/* Both wait for the end of the same input. */
static void fork_child(void)
{
	TASKSCOPE("parent");
	pid_t child = fork();

	if (child == 0) {
		TASKSCOPE("child");
		wait_for_end();
		exit(0);
	}
	say("child", (unsigned long long)child);
	wait_for_end();
	waitpid(child, NULL, 0);
}

static void print_line(void *context, enum taskscope_level level, const char *line)
{
	printf("%s %d %s\n", (const char *)context, (int)level, line);
	fflush(stdout);
}

static int start_with_log(void)
{
	return taskscope_start(&(struct taskscope_options){
		.size = sizeof(struct taskscope_options),
		.log = print_line,
		.log_context = "logged",
	});
}

static void end_program(void *context, enum taskscope_level level, const char *line)
{
	(void)context;
	(void)level;
	(void)line;
	exit(7);
}

static int start_with_deadly_log(void)
{
	return taskscope_start(&(struct taskscope_options){
		.size = sizeof(struct taskscope_options),
		.log = end_program,
	});
}

/* No more threads for this user, who must not be root. */
static int start_without_threads(void)
{
	struct rlimit before, none;
	int error;

	if (geteuid() == 0 && setresuid(65534, 65534, 65534))
		abort();
	getrlimit(RLIMIT_NPROC, &before);
	none = (struct rlimit){ 0, before.rlim_max };
	setrlimit(RLIMIT_NPROC, &none);
	error = taskscope_start(NULL);
	setrlimit(RLIMIT_NPROC, &before);
	return error;
}

static void on_signal(int number)
{
	(void)number;
	if (write(STDOUT_FILENO, "own handler\n", 12) < 0)
		abort();
}

static int start_with_own_handler(void)
{
	signal(SIGUSR2, on_signal);
	return taskscope_start(NULL);
}

static int start(void)
{
	return taskscope_start(NULL);
}

static const struct {
	const char *name;
	void (*play)(void);
	int (*start)(void);
} scenes[] = {
	{ "idle", idle, start },
	{ "dump", dump, start },
	{ "phases", phases, start },
	{ "progress", progress, start },
	{ "endless", endless, start },
	{ "burner", burner, start },
	{ "spin", spin, start },
	{ "deadlock", deadlock, start },
	{ "pool", pool, start },
	{ "steady", steady, start },
	{ "commanded", commanded, start },
	{ "quota", quota, start },
	{ "starve", starve, start },
	{ "rounds", rounds, start },
	{ "limits", limits, start },
	{ "labels", labels, start },
	{ "statistics", statistics, start },
	{ "crowd", crowd, start },
	{ "doomed", doomed, start },
	{ "fork", fork_child, start },
	{ "log", deadlock, start_with_log },
	{ "deadly-log", idle, start_with_deadly_log },
	{ "threadless", idle, start_without_threads },
	{ "own-handler", idle, start_with_own_handler },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (argc != 2 || strcmp(argv[1], scenes[i].name))
			continue;
		say("started", (unsigned long long)-scenes[i].start());
		scenes[i].play();
		return 0;
	}
	fprintf(stderr, "usage: beating SCENE\n");
	return 2;
}
