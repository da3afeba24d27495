/* SPDX-License-Identifier: MIT */
#include "reference-plugin/inventory/scanner.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/wake.h"
#include "reference-plugin/answer/answer.h"

#include <string.h>

struct scanner {
	uv_loop_t *loop;
	const struct config *config;
	void (*on_change)(void *user);
	void *user;
	struct inventory inventory;
	struct discovery_options discovery;
	struct discovery_snapshot *snapshot;
	struct discovery_watch *watch;
	struct wake *wake; /* ready when the watch has events */
	uv_timer_t timer;  /* until the next snapshot */
	uint64_t last_ms;
	bool watching; /* or watching failed */
	bool changed;
	char last_problem[ERROR_TEXT_SIZE];
	struct text_list withheld; /* the last report about devices that are not offered */
};

static const char *given(const char *value)
{
	return value[0] != '\0' ? value : NULL;
}

static void on_event(const char *event, const struct inventory_device *device, void *user)
{
	struct scanner *scanner = user;
	bool removed = strcmp(event, "removed") == 0;
	bool sick = !device->healthy && device->found != NULL && !removed;
	scanner->changed = true;
	log_message(device->healthy || removed ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING,
		    "device %s (%s) %s%s%s", device->id, inventory_resource_name(device->resource),
		    event, sick ? ": " : "", sick ? device->reason : "");
}

static int take(struct scanner *scanner, struct error *err)
{
	const struct config_program *program = scanner->config->program;
	struct discovery_snapshot *snapshot = NULL;
	int rc = discovery_take(&scanner->discovery, &snapshot, err);
	if (rc < 0)
		return error_wrap(err, rc, "cannot look for devices");
	/* A plugin for one system would offer devices of another system under a wrong name. */
	if (program->directx && strcmp(snapshot->system.os, "windows") != 0)
		rc = error_set(err, ERROR_UNSUPPORTED,
			       "%s offers the devices of Windows nodes, and this node runs %s",
			       program->name, snapshot->system.os);
	if (rc == 0)
		rc = inventory_update(&scanner->inventory, snapshot, uv_now(scanner->loop),
				      on_event, scanner, err);
	if (rc < 0) {
		discovery_free(snapshot);
		return rc;
	}
	for (size_t i = 0; i < snapshot->diagnostic_count; i++)
		log_debug("discovery: %s: %s", snapshot->diagnostics[i].place,
			  snapshot->diagnostics[i].message);

	/* Each device that is not offered is reported once, and again when the reason changes. */
	struct text_list withheld = {0};
	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct discovery_device *device = &snapshot->devices[i];
		const char *why = inventory_withholds(&scanner->inventory, device);
		if (why == NULL)
			continue;
		text_list_addf(&withheld, "device %s (%s) is not offered: %s", device->id,
			       device->description, why);
		if (!withheld.failed &&
		    !text_list_has(&scanner->withheld, withheld.items[withheld.count - 1]))
			log_warning("%s", withheld.items[withheld.count - 1]);
	}
	text_list_free(&scanner->withheld);
	scanner->withheld = withheld;

	discovery_free(scanner->snapshot);
	scanner->snapshot = snapshot;
	return 0;
}

static void on_timer(uv_timer_t *timer);

static uint64_t pause_ms(const struct scanner *scanner)
{
	uint64_t poll_ms = scanner->config->poll_interval_ms;
	return poll_ms < SCANNER_PAUSE_MS ? poll_ms : SCANNER_PAUSE_MS;
}

void scanner_scan_soon(struct scanner *scanner)
{
	uint64_t now_ms = uv_now(scanner->loop);
	uint64_t due_ms = scanner->last_ms + pause_ms(scanner);
	uint64_t wait = due_ms > now_ms ? due_ms - now_ms : 0;
	if (uv_timer_get_due_in(&scanner->timer) > wait)
		(void)uv_timer_start(&scanner->timer, on_timer, wait, 0);
}

static void on_watch(void *user)
{
	struct scanner *scanner = user;
	if (discovery_watch_changed(scanner->watch))
		scanner_scan_soon(scanner);
}

int scanner_scan(struct scanner *scanner, struct error *err)
{
	/* Without events from the system only the poll interval remains. */
	if (!scanner->watching) {
		struct error why = {0};
		scanner->watching = true;
		int rc = discovery_watch_open(&scanner->discovery, 0, &scanner->watch, &why);
		if (rc == 0)
			rc = wake_start(scanner->loop, discovery_watch_handle(scanner->watch),
					on_watch, scanner, &scanner->wake, &why);
		if (rc < 0)
			log_debug("no events about devices, polling instead: %s", why.text);
	}

	uv_update_time(scanner->loop);
	scanner->last_ms = uv_now(scanner->loop);
	int rc = take(scanner, err);

	uint64_t wait = inventory_next_removal_ms(&scanner->inventory, uv_now(scanner->loop));
	if (wait > scanner->config->poll_interval_ms)
		wait = scanner->config->poll_interval_ms;
	else if (wait < pause_ms(scanner))
		wait = pause_ms(scanner);
	(void)uv_timer_start(&scanner->timer, on_timer, wait, 0);
	if (scanner->changed) {
		scanner->changed = false;
		scanner->on_change(scanner->user);
	}
	return rc;
}

static void on_timer(uv_timer_t *timer)
{
	struct scanner *scanner = timer->data;
	struct error err = {0};
	if (scanner_scan(scanner, &err) == 0) {
		scanner->last_problem[0] = '\0';
		return;
	}
	if (strcmp(err.text, scanner->last_problem) != 0)
		log_error("%s", err.text);
	memcpy(scanner->last_problem, err.text, sizeof(err.text));
}

const struct inventory *scanner_inventory(struct scanner *scanner)
{
	struct error err = {0};
	if (scanner->snapshot == NULL && scanner_scan(scanner, &err) < 0)
		log_error("%s", err.text);
	return &scanner->inventory;
}

int scanner_open(uv_loop_t *loop, const struct config *config, void (*on_change)(void *user),
		 void *user, struct scanner **out, struct error *err)
{
	struct scanner *scanner = malloc(sizeof(*scanner));
	if (scanner == NULL)
		return error_memory(err);
	*scanner = (struct scanner){
		.loop = loop,
		.config = config,
		.on_change = on_change,
		.user = user,
		.inventory = {.replicas = config->multitenancy,
			      .removal_grace_ms = config->removal_grace_ms,
			      .root = config->root,
			      .display_computes = config->program->directx,
			      .without_location_path = config->allocation == ANSWER_CLASS},
		.discovery =
			{
				.recorded_node = given(config->node),
				.root = given(config->root),
				.sysfs = given(config->sysfs),
				.proc = given(config->proc),
				.dev = given(config->dev),
				.vulkan_icd_directories =
					(const char *const *)config->vulkan_icd_dirs.items,
				.egl_vendor_directories =
					(const char *const *)config->egl_vendor_dirs.items,
				.opencl_vendors = given(config->opencl_vendors),
				.filter =
					{
						.display_only =
							config->resource == CONFIG_RESOURCE_DISPLAY,
						.compute_only =
							config->resource == CONFIG_RESOURCE_COMPUTE,
						.include_integrated = config->include_integrated,
						.include_detachable = config->include_detachable,
						.exclude_software = !config->include_software,
						.vendors =
							(const char *const *)config->vendors.items,
						.apis = (const char *const *)config->apis.items,
					},
			},
	};
	(void)uv_timer_init(loop, &scanner->timer);
	scanner->timer.data = scanner;
	(void)uv_timer_start(&scanner->timer, on_timer, SCANNER_FIRST_MS, 0);
	*out = scanner;
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct scanner *scanner = handle->data;
	discovery_watch_close(scanner->watch);
	inventory_free(&scanner->inventory);
	discovery_free(scanner->snapshot);
	text_list_free(&scanner->withheld);
	free(scanner);
}

void scanner_close(struct scanner *scanner)
{
	if (scanner == NULL)
		return;
	wake_free(STEAL(scanner->wake));
	uv_close((uv_handle_t *)&scanner->timer, on_closed);
}
