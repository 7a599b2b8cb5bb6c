/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "model/snapshot/snapshot.h"
#include "render/record/record_json.h"
#include "tui/moment/moment.h"
#include "tui/view/moment_view.h"

/* What happened since the moment before; of the first one nothing is known. */
static void write_past(struct json *json, const struct moment *moment)
{
	json_key(json, "anomalies");
	json_begin_array(json);
	for (size_t i = 0; i < moment->anomalies.count; i++)
		anomaly_json(json, &moment->anomalies.data[i]);
	json_end_array(json);
	json_key(json, "events");
	json_begin_array(json);
	for (size_t i = moment->before_unix_ns ? moment->events.count : 0; i > 0; i--)
		if (moment->events.data[i - 1].unix_ns > moment->before_unix_ns)
			life_event_json(json, &moment->events.data[i - 1], true);
	json_end_array(json);
}

void moment_json_print(const struct moment *moment, const struct moment_view *view, FILE *out)
{
	struct json json = json_line_writer(out);

	json_begin_object(&json);
	json_member_string(&json, "kind", "moment");
	json_member_u64(&json, "ts_ns", moment->sample.unix_ns);
	if (moment->asked_unix_ns)
		json_member_u64(&json, "asked_ts_ns", moment->asked_unix_ns);
	json_member_bool(&json, "live", moment->is_live);
	if (moment->tasks->interval_ns)
		json_member_u64(&json, "interval_ns", moment->tasks->interval_ns);
	json_key(&json, "host");
	host_sample_json(&json, &moment->sample);
	if (moment->has_recorder)
		write_past(&json, moment);
	snapshot_json_groups(&json, &view->view);
	json_end_object(&json);
}
