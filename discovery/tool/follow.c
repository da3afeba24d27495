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

/* The device as in the recorded form of a snapshot that holds it alone. NULL: out of memory. */
static cJSON *device_json(const struct discovery_device *device)
{
	const struct discovery_snapshot alone = {
		.system = {"", "", "", "", "", "", "", ""},
		.recorded_at = "",
		.devices = device,
		.device_count = 1,
	};
	char *text = discovery_to_json(&alone);
	cJSON *document CLEANUP_JSON = NULL;
	if (text != NULL)
		(void)json_parse(text, strlen(text), &document, NULL);
	discovery_string_free(text);
	return cJSON_DetachItemFromArray(cJSON_GetObjectItem(document, "devices"), 0);
}

static void print(enum discovery_change change, const struct discovery_device *device, void *user)
{
	int *rc = user;
	char now[CLOCK_UTC_SIZE] = "";
	cJSON *line CLEANUP_JSON = cJSON_CreateObject();
	cJSON *json = device_json(device);
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

static int look(struct follow *follow)
{
	struct discovery_snapshot *now = NULL;
	struct error trouble = {0};
	if (!discovery_watch_changed(follow->watch))
		return 0;
	if (discovery_take(follow->options, &now, &trouble) < 0) {
		log_warning("%s", trouble.text);
		return 0;
	}
	return report(follow, now, follow->err);
}

/* Nothing keeps the loop alive afterwards. */
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
	follow->rc = look(follow);
	if (follow->rc < 0)
		end(follow);
}

static void on_request(const char *what, void *user)
{
	(void)what;
	end(user);
}

static int begin(struct follow *follow, unsigned poll_ms, struct error *err)
{
	struct discovery_snapshot *now = NULL;
	/* Watching begins before the first look, so nothing that happens between them is lost. */
	int rc = discovery_watch_open(follow->options, poll_ms, &follow->watch, err);
	if (rc == 0)
		rc = termination_open(&follow->loop, on_request, follow, &follow->termination, err);
	if (rc == 0)
		rc = wake_start(&follow->loop, discovery_watch_handle(follow->watch), on_change,
				follow, &follow->wake, err);
	if (rc == 0)
		rc = discovery_take(follow->options, &now, err);
	return rc < 0 ? rc : report(follow, now, err);
}

int follow_run(const struct discovery_options *options, unsigned poll_ms, struct error *err)
{
	struct follow follow CLEANUP(follow_free) = {.options = options, .err = err};
	int rc = uv_loop_init(&follow.loop);
	if (rc < 0)
		return error_uv(err, rc, "event loop");
	follow.rc = begin(&follow, poll_ms, err);
	if (follow.rc < 0)
		end(&follow);
	(void)uv_run(&follow.loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&follow.loop);
	return follow.rc;
}
