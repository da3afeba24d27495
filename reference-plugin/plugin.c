/* SPDX-License-Identifier: MIT */
#include "reference-plugin/programs.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "base/path.h"
#include "base/termination.h"
#include "reference-plugin/serving/directory_watch.h"
#include "reference-plugin/serving/instance.h"
#include "reference-plugin/serving/monitor.h"
#include "rpc/loop.h"

#include <string.h>

enum { DRAIN_MS = 5000, MONITOR_RETRY_MS = 500 };

struct plugin {
	uv_loop_t loop;
	const struct config *config;
	struct scanner *scanner;
	struct directory_watch *plugin_directory;
	struct directory_watch *kubelet_directory;	      /* NULL: the same directory */
	struct instance *instances[INVENTORY_RESOURCE_COUNT]; /* NULL: not served */
	size_t open_instances;
	struct monitor *monitor;  /* NULL: off */
	uv_timer_t monitor_timer; /* runs while another instance has the address */
	struct termination *termination;
	bool stopping;
};

static void each_instance(struct plugin *plugin, void (*call)(struct instance *instance))
{
	for (size_t i = 0; !plugin->stopping && i < INVENTORY_RESOURCE_COUNT; i++) {
		if (plugin->instances[i] != NULL)
			call(plugin->instances[i]);
	}
}

static void on_directory_changed(void *user)
{
	each_instance(user, instance_check);
}

static void on_devices_changed(void *user)
{
	each_instance(user, instance_refresh);
}

static int open_instances(struct plugin *plugin, struct error *err)
{
	struct serving serving = {&plugin->loop, plugin->config, plugin->scanner, INVENTORY_DISPLAY,
				  NULL};
	int rc = 0;
	if (plugin->config->resource != CONFIG_RESOURCE_COMPUTE)
		rc = instance_open(&serving, &plugin->instances[INVENTORY_DISPLAY], err);
	serving.resource = INVENTORY_COMPUTE;
	if (rc == 0 && plugin->config->resource != CONFIG_RESOURCE_DISPLAY)
		rc = instance_open(&serving, &plugin->instances[INVENTORY_COMPUTE], err);
	for (size_t i = 0; i < INVENTORY_RESOURCE_COUNT; i++)
		plugin->open_instances += plugin->instances[i] != NULL ? 1 : 0;
	return rc;
}

/* The answer comes from the loop itself, so the loop is alive. */
static int answer_monitor(const char *path, struct text *body, void *user)
{
	struct plugin *plugin = user;
	struct serving_state states[INVENTORY_RESOURCE_COUNT] = {0};
	size_t count = 0;
	for (size_t i = 0; i < INVENTORY_RESOURCE_COUNT; i++)
		if (plugin->instances[i] != NULL)
			instance_state(plugin->instances[i], &states[count++]);
	const bool is_ready = strcmp(path, "/readyz") == 0;
	if (is_ready || strcmp(path, "/healthz") == 0)
		return metrics_health(states, count, is_ready ? 0 : METRICS_GRACE_MS, body) ? 200
											    : 503;
	if (strcmp(path, "/livez") == 0)
		return 200;
	if (strcmp(path, "/metrics") != 0)
		return 404;
	metrics_write(plugin->config->program->name, states, count, body);
	return 200;
}

static void on_monitor_due(uv_timer_t *timer)
{
	struct plugin *plugin = timer->data;
	struct error err = {0};
	int rc = monitor_open(&plugin->loop, plugin->config->metrics_address, answer_monitor,
			      plugin, &plugin->monitor, &err);
	if (rc == ERROR_BUSY)
		return;
	(void)uv_timer_stop(timer);
	if (rc < 0)
		log_warning("%s", err.text);
}

/* In a rolling update the older instance has the address until it ends: the newer one serves the kubelet before that. */
static int open_monitor(struct plugin *plugin, struct error *err)
{
	struct error busy = {0};
	int rc = uv_timer_init(&plugin->loop, &plugin->monitor_timer);
	if (rc < 0)
		return error_uv(err, rc, "timer");
	plugin->monitor_timer.data = plugin;
	rc = monitor_open(&plugin->loop, plugin->config->metrics_address, answer_monitor, plugin,
			  &plugin->monitor, &busy);
	if (rc == ERROR_BUSY) {
		log_warning("%s: retrying until it is free", busy.text);
		rc = uv_timer_start(&plugin->monitor_timer, on_monitor_due, MONITOR_RETRY_MS,
				    MONITOR_RETRY_MS);
		return rc == 0 ? 0 : error_uv(err, rc, "timer");
	}
	if (rc < 0)
		*err = busy;
	return rc;
}

/* Instances use the scanner until they are closed. */
static void on_instance_closed(void *user)
{
	struct plugin *plugin = user;
	if (--plugin->open_instances == 0)
		scanner_close(plugin->scanner);
}

static void stop(struct plugin *plugin)
{
	if (plugin->stopping)
		return;
	plugin->stopping = true;
	termination_close(plugin->termination);
	if (plugin->monitor_timer.data != NULL)
		uv_close((uv_handle_t *)&plugin->monitor_timer, NULL);
	monitor_close(plugin->monitor);
	directory_watch_close(plugin->plugin_directory);
	directory_watch_close(plugin->kubelet_directory);
	if (plugin->open_instances == 0)
		scanner_close(plugin->scanner);
	for (size_t i = 0; i < INVENTORY_RESOURCE_COUNT; i++) {
		if (plugin->instances[i] != NULL)
			instance_close(plugin->instances[i], on_instance_closed, plugin);
	}
}

static void on_request(const char *what, void *user)
{
	log_info("stopping on %s", what);
	stop(user);
}

int plugin_run(const struct config *config, struct error *err)
{
	struct plugin plugin = {.config = config};
	struct error drain = {0};
#ifndef _WIN32
	/* The DirectX plugins are for devices of Windows. */
	if (config->program->directx && config->node[0] == '\0')
		return error_set(err, ERROR_UNSUPPORTED,
				 "%s offers the devices of Windows nodes: name a recorded one with "
				 "--node",
				 config->program->name);
#endif
	char *kubelet CLEANUP_FREE = path_directory(config->kubelet_socket);
	if (kubelet == NULL)
		return error_memory(err);
	int rc = uv_loop_init(&plugin.loop);
	if (rc != 0)
		return error_uv(err, rc, "event loop");

	log_info("%s %s", config->program->name, GPUCERT_VERSION);
	rc = termination_open(&plugin.loop, on_request, &plugin, &plugin.termination, err);
	if (rc == 0)
		rc = scanner_open(&plugin.loop, config, on_devices_changed, &plugin,
				  &plugin.scanner, err);
	/* A recorded node is quick to read, and one that cannot be read is reported at once. */
	if (rc == 0 && config->node[0] != '\0')
		rc = scanner_scan(plugin.scanner, err);
	if (rc == 0)
		rc = open_instances(&plugin, err);
	if (rc == 0)
		rc = directory_watch_open(&plugin.loop, config->plugin_dir, on_directory_changed,
					  &plugin, &plugin.plugin_directory, err);
	if (rc == 0 && strcmp(kubelet, config->plugin_dir) != 0)
		rc = directory_watch_open(&plugin.loop, kubelet, on_directory_changed, &plugin,
					  &plugin.kubelet_directory, err);
	if (rc == 0 && config->metrics_address[0] != '\0')
		rc = open_monitor(&plugin, err);

	if (rc == 0)
		(void)uv_run(&plugin.loop, UV_RUN_DEFAULT);
	stop(&plugin);
	if (loop_drain(&plugin.loop, DRAIN_MS, &drain) < 0)
		log_warning("%s", drain.text);
	return rc;
}
