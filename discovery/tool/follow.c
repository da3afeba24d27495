/* SPDX-License-Identifier: MIT */
#include "discovery/tool/follow.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

struct follow {
	struct discovery_watch *watch;
	struct discovery_snapshot *current;
	int signals;
};

#define CLEANUP_FOLLOW __attribute__((cleanup(follow_free)))

static void follow_free(struct follow *follow)
{
	discovery_watch_close(follow->watch);
	discovery_free(follow->current);
	cleanup_fd_(&follow->signals);
}

/* The device as in the recorded form of a snapshot that holds it alone. NULL: out of memory. */
static cJSON *follow_device_json(const struct discovery_device *device)
{
	const struct discovery_snapshot alone = {
		.system = {"", "", "", "", "", ""},
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

static void follow_print(enum discovery_change change, const struct discovery_device *device,
			 void *user)
{
	int *rc = user;
	char now[CLOCK_UTC_SIZE] = "";
	cJSON *line CLEANUP_JSON = cJSON_CreateObject();
	cJSON *json = follow_device_json(device);

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

static int follow_report(struct follow *follow, struct discovery_snapshot *now, struct error *err)
{
	static const struct discovery_snapshot nothing = {0};
	int rc = 0;

	(void)discovery_changes(follow->current != NULL ? follow->current : &nothing, now,
				follow_print, &rc);
	discovery_free(follow->current);
	follow->current = now;
	return rc < 0 ? error_set(err, rc, "writing an event failed") : 0;
}

static int follow_look(struct follow *follow, const struct discovery_options *options,
		       struct error *err)
{
	struct discovery_snapshot *now = NULL;
	struct error trouble = {0};

	if (!discovery_watch_changed(follow->watch))
		return 0;
	if (discovery_take(options, &now, &trouble) < 0) {
		log_warning("%s", trouble.text);
		return 0;
	}
	return follow_report(follow, now, err);
}

static int follow_begin(struct follow *follow, const struct discovery_options *options,
			unsigned poll_ms, struct error *err)
{
	struct discovery_snapshot *now = NULL;
	sigset_t ends;
	int rc = 0;

	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGINT);
	(void)sigaddset(&ends, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &ends, NULL) < 0)
		return error_system(err, errno, "signals");
	follow->signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	if (follow->signals < 0)
		return error_system(err, errno, "signals");
	/* Watching begins before the first look, so nothing that happens between them is lost. */
	rc = discovery_watch_open(options, poll_ms, &follow->watch, err);
	if (rc == 0)
		rc = discovery_take(options, &now, err);
	return rc < 0 ? rc : follow_report(follow, now, err);
}

int follow_run(const struct discovery_options *options, unsigned poll_ms, struct error *err)
{
	struct follow follow CLEANUP_FOLLOW = {.signals = -1};
	int rc = follow_begin(&follow, options, poll_ms, err);

	while (rc == 0) {
		struct pollfd waits[] = {
			{.fd = (int)discovery_watch_handle(follow.watch), .events = POLLIN},
			{.fd = follow.signals, .events = POLLIN},
		};

		if (poll(waits, ARRAY_SIZE(waits), -1) < 0 && errno != EINTR)
			return error_system(err, errno, "waiting for changes");
		if (waits[1].revents != 0)
			break;
		if (waits[0].revents != 0)
			rc = follow_look(&follow, options, err);
	}
	return rc;
}
