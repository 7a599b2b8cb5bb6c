/* SPDX-License-Identifier: MIT */
/* Sends what happens to the clients that stream. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/output/memory_stream.h"
#include "model/record/life_event.h"
#include "record/socket/server_client.h"
#include "render/record/record_json.h"

/* A line in two forms: with command lines, and without. */
struct published {
	uint32_t uid;
	bool has_uid;
	void (*write)(struct json *json, const void *item, bool shows_command);
	const void *item;
};

static void publish(struct server *server, const struct published *published)
{
	char *lines[2] = { NULL, NULL };
	size_t lengths[2] = { 0 };

	for (size_t i = 0; server && i < SERVER_CLIENTS; i++) {
		struct connection *connection = &server->connections[i];
		const struct server_client *client = &connection->client;
		bool shows =
			client->sees_all || (published->has_uid && published->uid == client->uid);

		if (connection->fd < 0 || !connection->streams)
			continue;
		if (!lines[shows]) {
			FILE *out = memory_stream_open(&lines[shows], &lengths[shows]);
			struct json json = json_line_writer(out);

			if (!out)
				break;
			published->write(&json, published->item, shows);
			if (fclose(out) != 0)
				break;
		}
		connection_send(connection, lines[shows], lengths[shows]);
		server_settle(connection);
	}
	free(lines[0]);
	free(lines[1]);
}

static void write_event(struct json *json, const void *item, bool shows_command)
{
	life_event_json(json, item, shows_command);
}

static void write_anomaly(struct json *json, const void *item, bool shows_command)
{
	(void)shows_command;
	anomaly_json(json, item);
}

static void write_sample(struct json *json, const void *item, bool shows_command)
{
	(void)shows_command;
	host_sample_json(json, item);
}

void server_publish_event(struct server *server, const struct life_event *event)
{
	publish(server, &(struct published){ event->uid, event->present & LIFE_HAS_UID, write_event,
					     event });
}

void server_publish_anomaly(struct server *server, const struct anomaly *anomaly)
{
	publish(server, &(struct published){ .write = write_anomaly, .item = anomaly });
}

/* What waits for somebody who does not read is memory that others cannot have. */
static void drop_stalled(struct server *server)
{
	uint64_t now_ns = monotonic_ns();

	for (size_t i = 0; i < SERVER_CLIENTS; i++) {
		struct connection *connection = &server->connections[i];

		if (!connection->backlog.length ||
		    now_ns - connection->taken_ns < SERVER_PATIENCE_NS)
			continue;
		connection->is_lost = true;
		server_settle(connection);
	}
}

void server_publish_sample(struct server *server, const struct host_sample *sample)
{
	if (server) {
		(void)loop_add_fd(server->loop, &server->arrival, server->fd, EPOLLIN);
		drop_stalled(server);
	}
	publish(server, &(struct published){ .write = write_sample, .item = sample });
}
