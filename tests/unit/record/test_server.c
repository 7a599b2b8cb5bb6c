/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/loop.h"
#include "model/record/life_event.h"
#include "record/socket/client.h"
#include "record/socket/server.h"
#include "record/socket/server_request.h"

static char folder[64], path[96];
static struct loop loop;
static struct server *server;
static struct loop_timer limit;

#define LONG_ANSWER 1000000
static int long_answers, slow_answers;

/* The peer's user as the kernel says it, unless a test has another one. */
static uid_t made_uid = (uid_t)-1;
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size);

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
	int status = __real_getsockopt(fd, level, name, value, size);

	if (status == 0 && name == SO_PEERCRED && made_uid != (uid_t)-1)
		((struct ucred *)value)->uid = made_uid;
	return status;
}

static int answer_echo(void *context, const struct server_client *client,
		       const struct server_request *request, FILE *out, struct error *error)
{
	const char *text = server_request_text(request, "text");

	(void)context;
	(void)client;
	if (!text)
		return error_set(error, -EINVAL, "there is no \"text\"");
	fprintf(out, "\"%s %d\"", text, (int)server_request_number(request, "number"));
	return 0;
}

static int answer_stream(void *context, const struct server_client *client,
			 const struct server_request *request, FILE *out, struct error *error)
{
	(void)context;
	(void)client;
	(void)request;
	(void)error;
	fputs("{}", out);
	return 0;
}

static int answer_long(void *context, const struct server_client *client,
		       const struct server_request *request, FILE *out, struct error *error)
{
	(void)context;
	(void)client;
	(void)request;
	(void)error;
	fprintf(out, "\"%0*d\"\n", LONG_ANSWER, ++long_answers);
	return 0;
}

/* It waits and uses no CPU time. */
static int answer_slowly(void *context, const struct server_client *client,
			 const struct server_request *request, FILE *out, struct error *error)
{
	(void)context;
	(void)client;
	(void)request;
	(void)error;
	poll(NULL, 0, 250);
	fprintf(out, "%d", ++slow_answers);
	return 0;
}

static const struct server_method methods[] = {
	{ "echo", answer_echo, false },
	{ "slow", answer_slowly, false },
	{ "long", answer_long, false },
	{ "stream", answer_stream, true },
	{ 0 },
};

static void stop(void *context)
{
	loop_stop(context);
}

static int open_server(void **state)
{
	struct error error = { 0 };

	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/server.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/sock", folder);
	assert_int_equal(loop_open(&loop), 0);
	limit = (struct loop_timer){ .due = stop, .context = &loop, .deadline_ns = LOOP_NEVER };
	loop_add_timer(&loop, &limit);
	made_uid = (uid_t)-1;
	long_answers = slow_answers = 0;
	assert_int_equal(server_open(&loop, path, methods, NULL, &server, &error), 0);
	return 0;
}

static int close_server(void **state)
{
	(void)state;
	server_close(server);
	loop_close(&loop);
	assert_int_equal(access(path, F_OK), -1);
	return rmdir(folder);
}

static void stop_when_idle(void *context)
{
	(void)context;
	limit.deadline_ns = monotonic_ns() + 20 * NS_PER_MS;
}

/* Lets the server do what it can. */
static void serve(void)
{
	limit.deadline_ns = monotonic_ns() + 50 * NS_PER_MS;
	loop.is_stopped = false;
	assert_int_equal(loop_run(&loop, stop_when_idle, NULL), 0);
}

static int connect_raw(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, path, strlen(path) + 1);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Serves until so many bytes have come, at least; an answer may have to wait for a rest of the server. */
static void receive(int fd, char *reply, size_t size, size_t least)
{
	size_t got = 0;

	while (got < least) {
		ssize_t part = recv(fd, reply + got, size - 1 - got, MSG_DONTWAIT);

		assert_true(part > 0 || (part < 0 && errno == EAGAIN));
		got += part > 0 ? (size_t)part : 0;
		if (got < least)
			serve();
	}
	reply[got] = '\0';
}

/* Serves until an answer begins to come, which may have to wait for a rest of the server. */
static void await_answer(int fd)
{
	ssize_t got;
	char byte;

	while ((got = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT)) != 1) {
		assert_true(got < 0 && errno == EAGAIN);
		serve();
	}
}

static void exchange(const char *request, const char *expected)
{
	char reply[512] = "";
	int fd = connect_raw();

	assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
	serve();
	receive(fd, reply, sizeof(reply), 1);
	assert_string_equal(reply, expected);
	close(fd);
	serve();
}

static void requests_are_answered_with_their_id(void **state)
{
	(void)state;
	exchange("{\"id\":7,\"method\":\"echo\",\"params\":{\"text\":\"x\",\"number\":3}}\n",
		 "{\"id\":7,\"result\":\"x 3\"}\n");
	exchange("{\"id\":\"a\\u0007\",\"method\":\"echo\",\"params\":{\"text\":\"y\"}}\n",
		 "{\"id\":\"a\\u0007\",\"result\":\"y 0\"}\n");
}

static void a_failure_is_an_error_and_no_result(void **state)
{
	(void)state;
	exchange("{\"id\":1,\"method\":\"echo\"}\n",
		 "{\"id\":1,\"error\":\"there is no \\\"text\\\"\"}\n");
	exchange("{\"id\":2,\"method\":\"sing\"}\n",
		 "{\"id\":2,\"error\":\"there is no such method; there are echo, slow, long and "
		 "stream\"}\n");
	exchange("[1,2]\n",
		 "{\"id\":null,\"error\":\"a request is one line with a JSON object that has a "
		 "method\"}\n");
	exchange("\n",
		 "{\"id\":null,\"error\":\"a request is one line with a JSON object that has a "
		 "method\"}\n");
}

static void an_endless_line_ends_the_connection(void **state)
{
	static char bytes[SERVER_REQUEST_BYTES + 4096];
	int fd = connect_raw();
	char reply;

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	(void)!send(fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL);
	serve();
	(void)!send(fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL);
	serve();
	assert_true(recv(fd, &reply, 1, MSG_DONTWAIT) == 0 || errno == ECONNRESET);
	close(fd);
}

static void a_stream_gets_events_of_others_without_command_lines(void **state)
{
	const struct life_event event = {
		.kind = LIFE_EXEC,
		.present = LIFE_HAS_UID,
		.unix_ns = 5,
		.task = { 12, 12, 3 },
		.uid = 4711,
		.comm = "true",
		.cmd = "true secret",
	};
	char line[512] = "";
	int fd = connect_raw();

	(void)state;
	assert_true(send(fd, "{\"method\":\"stream\"}\n", 20, 0) == 20);
	serve();
	receive(fd, line, sizeof(line), 1);
	server_publish_event(server, &event);
	memset(line, 0, sizeof(line));
	receive(fd, line, sizeof(line), 1);
	assert_non_null(strstr(line, "\"kind\":\"exec\""));
	/* We are the user who records, and see it all. */
	assert_non_null(strstr(line, "secret"));
	close(fd);
	serve();
}

static void who_does_not_read_is_dropped_and_counted(void **state)
{
	static char words[60000];
	const struct life_event event = { .kind = LIFE_EXEC, .comm = "x", .cmd = words };
	int fd = connect_raw();

	(void)state;
	memset(words, 'w', sizeof(words) - 1);
	assert_true(send(fd, "{\"method\":\"stream\"}\n", 20, 0) == 20);
	serve();
	for (int i = 0; i < 1000 && server_dropped(server) == 0; i++)
		server_publish_event(server, &event);
	assert_int_equal(server_dropped(server), 1);
	close(fd);
}

static void who_leaves_is_not_dropped(void **state)
{
	const struct life_event event = { .kind = LIFE_EXEC, .comm = "x" };
	int fd = connect_raw();

	(void)state;
	assert_true(send(fd, "{\"method\":\"stream\"}\n", 20, 0) == 20);
	serve();
	close(fd);
	server_publish_event(server, &event);
	server_publish_event(server, &event);
	assert_int_equal(server_dropped(server), 0);
}

static void too_many_clients_are_refused(void **state)
{
	int fds[SERVER_CLIENTS + 1];

	(void)state;
	for (int i = 0; i <= SERVER_CLIENTS; i++) {
		fds[i] = connect_raw();
		serve();
	}
	assert_int_equal(server_dropped(server), 1);
	for (int i = 0; i <= SERVER_CLIENTS; i++)
		close(fds[i]);
}

static void a_user_has_some_connections_and_hears_why_not_more(void **state)
{
	int fds[SERVER_CLIENTS_PER_USER + 1], own;
	char reply[256] = "";

	(void)state;
	made_uid = 4711;
	for (int i = 0; i <= SERVER_CLIENTS_PER_USER; i++) {
		fds[i] = connect_raw();
		serve();
	}
	assert_int_equal(server_dropped(server), 1);
	receive(fds[SERVER_CLIENTS_PER_USER], reply, sizeof(reply), 1);
	assert_string_equal(reply, "{\"id\":null,\"error\":\"you have too many connections to the "
				   "recorder; close one\"}\n");
	made_uid = 4712;
	exchange("{\"id\":1,\"method\":\"stream\"}\n", "{\"id\":1,\"result\":{}}\n");
	close(fds[0]);
	serve();
	made_uid = 4711;
	own = connect_raw();
	serve();
	assert_int_equal(server_dropped(server), 1);
	close(own);
	for (int i = 1; i <= SERVER_CLIENTS_PER_USER; i++)
		close(fds[i]);
}

static void strangers_leave_places_for_root(void **state)
{
	int fds[SERVER_CLIENTS];

	(void)state;
	for (int i = 0; i < SERVER_CLIENTS; i++) {
		made_uid = 5000 + (uid_t)i / SERVER_CLIENTS_PER_USER;
		fds[i] = connect_raw();
		serve();
	}
	assert_int_equal(server_dropped(server), SERVER_CLIENTS_KEPT);
	made_uid = 0;
	exchange("{\"id\":1,\"method\":\"stream\"}\n", "{\"id\":1,\"result\":{}}\n");
	for (int i = 0; i < SERVER_CLIENTS; i++)
		close(fds[i]);
}

static void strangers_who_make_the_recorder_wait_pay_for_it_and_root_does_not(void **state)
{
	int fds[2];

	(void)state;
	made_uid = 5000;
	for (int i = 0; i < 2; i++) {
		fds[i] = connect_raw();
		assert_int_equal(send(fds[i], "{\"method\":\"slow\"}\n", 18, 0), 18);
	}
	serve();
	assert_int_equal(slow_answers, 1);
	made_uid = 0;
	exchange("{\"id\":1,\"method\":\"stream\"}\n", "{\"id\":1,\"result\":{}}\n");
	assert_int_equal(slow_answers, 1);
	while (slow_answers < 2)
		serve();
	for (int i = 0; i < 2; i++)
		close(fds[i]);
	serve();
}

/* A second request is not even looked at before the first answer was read. */
static void who_asks_much_at_once_gets_one_answer_at_a_time(void **state)
{
	static char answer[LONG_ANSWER + 64];
	int fd = connect_raw();
	size_t got = 0;

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_true(send(fd, "{\"method\":\"long\"}\n", 18, 0) == 18);
	await_answer(fd);
	assert_int_equal(long_answers, 1);
	while (got < LONG_ANSWER + 4 && long_answers == 1) {
		ssize_t part = recv(fd, answer + got, sizeof(answer) - got, MSG_DONTWAIT);

		got += part > 0 ? (size_t)part : 0;
		serve();
	}
	assert_in_range(long_answers, 2, 3);
	assert_int_equal(server_dropped(server), 0);
	close(fd);
	serve();
}

static void a_request_is_answered_though_its_sender_has_said_all(void **state)
{
	static const char expected[] = "{\"id\":null,\"result\":{}}\n"
				       "{\"id\":null,\"error\":\"there is no \\\"text\\\"\"}\n";
	char reply[128] = "";
	int fd = connect_raw();

	(void)state;
	assert_true(send(fd, "{\"method\":\"stream\"}\n{\"method\":\"echo\"}\n", 38, 0) == 38);
	shutdown(fd, SHUT_WR);
	serve();
	receive(fd, reply, sizeof(reply), strlen(expected));
	assert_string_equal(reply, expected);
	close(fd);
}

/* What others do not read must not use up the recorder's memory. */
static void unread_answers_of_strangers_are_bounded_in_all(void **state)
{
	int most = SERVER_WAITING_BYTES / LONG_ANSWER + 16, fds[SERVER_CLIENTS];
	char reply[256] = "";

	(void)state;
	for (int i = 0; i < most; i++) {
		made_uid = 5000 + (uid_t)i / SERVER_CLIENTS_PER_USER;
		fds[i] = connect_raw();
		assert_true(send(fds[i], "{\"method\":\"long\"}\n", 18, 0) == 18);
		await_answer(fds[i]);
	}
	receive(fds[most - 1], reply, sizeof(reply), 1);
	assert_non_null(strstr(reply, "{\"id\":null,\"error\":\"the answer is too long for now"));
	for (int i = 0; i < most; i++)
		close(fds[i]);
	serve();
}

static void a_second_server_is_refused_and_a_dead_socket_replaced(void **state)
{
	struct error error = { 0 };
	struct server *second = NULL;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char dead[112];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(server_open(&loop, path, methods, NULL, &second, &error), -EADDRINUSE);
	snprintf(dead, sizeof(dead), "%s/dead", folder);
	memcpy(address.sun_path, dead, strlen(dead) + 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	error.message[0] = '\0';
	assert_int_equal(server_open(&loop, dead, methods, NULL, &second, &error), 0);
	server_close(second);
	assert_int_equal(access(dead, F_OK), -1);
}

static void a_client_reads_line_by_line(void **state)
{
	struct client client;
	struct error error = { 0 };
	const char *line = NULL;
	size_t length = 0;

	(void)state;
	assert_int_equal(client_open(&client, path, &error), 0);
	assert_int_equal(client_ask(&client, "stream", &error), 0);
	assert_int_equal(client_ask(&client, "sing", &error), 0);
	serve();
	assert_int_equal(client_next(&client, &line, &length, &error), 0);
	assert_string_equal(line, "{\"id\":1,\"result\":{}}");
	assert_int_equal(client_next(&client, &line, &length, &error), 0);
	assert_non_null(strstr(line, "error"));
	server_close(server);
	server = NULL;
	assert_int_equal(client_next(&client, &line, &length, &error), -ENODATA);
	client_close(&client);
	assert_int_equal(client_open(&client, path, &error), -ENOENT);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_server, close_server)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(requests_are_answered_with_their_id),
		TEST(a_failure_is_an_error_and_no_result),
		TEST(an_endless_line_ends_the_connection),
		TEST(a_stream_gets_events_of_others_without_command_lines),
		TEST(who_does_not_read_is_dropped_and_counted),
		TEST(who_leaves_is_not_dropped),
		TEST(too_many_clients_are_refused),
		TEST(a_user_has_some_connections_and_hears_why_not_more),
		TEST(strangers_leave_places_for_root),
		TEST(strangers_who_make_the_recorder_wait_pay_for_it_and_root_does_not),
		TEST(who_asks_much_at_once_gets_one_answer_at_a_time),
		TEST(a_request_is_answered_though_its_sender_has_said_all),
		TEST(unread_answers_of_strangers_are_bounded_in_all),
		TEST(a_second_server_is_refused_and_a_dead_socket_replaced),
		TEST(a_client_reads_line_by_line),
	};

	return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
