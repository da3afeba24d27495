/* SPDX-License-Identifier: MIT */
#include "discovery/tool/tool.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/termination.h"
#include "base/wake.h"

#include <string.h>
#include <uv.h>

struct follow {
	uv_loop_t loop;
	struct wake *wake;
	struct termination *termination;
	const struct discovery_options *options;
	struct discovery_watch *watch;
	struct discovery_snapshot *current;
	struct error *err;
	int rc;
};

static void follow_free(struct follow *follow)
{
	discovery_watch_close(follow->watch);
	discovery_free(follow->current);
}

static void print(enum discovery_change change, const struct discovery_device *device, void *user)
{
	/* The device has the form that it has in a recorded node. */
	const struct discovery_snapshot single = {
		.system = {"", "", "", "", "", "", "", ""},
		.recorded_at = "",
		.devices = device,
		.device_count = 1,
	};
	int *rc = user;
	char now[CLOCK_UTC_SIZE] = "";
	cJSON *line CLEANUP_JSON = cJSON_CreateObject();
	cJSON *document CLEANUP_JSON = NULL;
	char *recorded = discovery_to_json(&single);

	if (recorded != NULL)
		(void)json_parse(recorded, strlen(recorded), &document, NULL);
	discovery_string_free(recorded);
	cJSON *json = cJSON_DetachItemFromArray(cJSON_GetObjectItem(document, "devices"), 0);
	(void)cJSON_AddStringToObject(line, "time", clock_utc(now));
	(void)cJSON_AddStringToObject(line, "event", discovery_change_name(change));
	if (!cJSON_AddItemToObject(line, "device", json))
		cJSON_Delete(json);
	char *text CLEANUP_FREE = json_print_compact(line);
	if (text == NULL)
		*rc = ERROR_MEMORY;
	else if (printf("%s\n", text) < 0 || fflush(stdout) != 0)
		*rc = ERROR_IO;
}

/* Prints the changes to a snapshot, and keeps it. */
static int report(struct follow *follow, struct discovery_snapshot *now, struct error *err)
{
	static const struct discovery_snapshot nothing = {0};
	int rc = 0;

	(void)discovery_changes(follow->current != NULL ? follow->current : &nothing, now, print,
				&rc);
	discovery_free(follow->current);
	follow->current = now;
	return rc < 0 ? error_set(err, rc, "writing an event failed") : 0;
}

/* Nothing keeps the loop running afterwards. */
static void end(struct follow *follow)
{
	wake_free(follow->wake);
	termination_close(follow->termination);
	follow->wake = NULL;
	follow->termination = NULL;
}

static void on_change(void *user)
{
	struct follow *follow = user;
	struct discovery_snapshot *now = NULL;
	struct error trouble = {0};

	follow->rc = 0;
	if (!discovery_watch_changed(follow->watch))
		return;
	if (discovery_take(follow->options, &now, &trouble) < 0) {
		log_warning("%s", trouble.text);
		return;
	}
	follow->rc = report(follow, now, follow->err);
	if (follow->rc < 0)
		end(follow);
}

static void on_request(const char *what, void *user)
{
	(void)what;
	end(user);
}

int follow_run(const struct discovery_options *options, unsigned poll_ms, struct error *err)
{
	struct follow follow CLEANUP(follow_free) = {.options = options, .err = err};
	struct discovery_snapshot *now = NULL;

	int rc = uv_loop_init(&follow.loop);
	if (rc < 0)
		return error_uv(err, rc, "event loop");
	/* Watching begins before the first snapshot, so that no change is lost. */
	rc = discovery_watch_open(options, poll_ms, &follow.watch, err);
	if (rc == 0)
		rc = termination_open(&follow.loop, on_request, &follow, &follow.termination, err);
	if (rc == 0)
		rc = wake_start(&follow.loop, discovery_watch_handle(follow.watch), on_change,
				&follow, &follow.wake, err);
	if (rc == 0)
		rc = discovery_take(options, &now, err);
	if (rc == 0)
		rc = report(&follow, now, err);
	follow.rc = rc;
	if (rc < 0)
		end(&follow);
	(void)uv_run(&follow.loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&follow.loop);
	return follow.rc;
}
