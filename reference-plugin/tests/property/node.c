/* SPDX-License-Identifier: MIT */
#include "reference-plugin/tests/property/node.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/path.h"
#include "reference-plugin/programs.h"
#include "reference-plugin/serving/directory_watch.h"
#include "reference-plugin/serving/instance.h"
#include "reference-plugin/tests/plugin_rig.h"
#include "reference-plugin/tests/property/virtual_time.h"

#include <malloc.h>
#include <string.h>

enum {
	PATIENCE_MS = 10 * 60 * 1000,
	QUIET_MS = 6000, /* longer than DIRECTORY_WATCH_POLL_MS */
	QUIET_ATTEMPTS = 100,
	ALLOWED_LATER_MAX = 6, /* registrations that faults may lead to after a rest */
	HEAP_GROWTH_MAX = 256 * 1024,
};

const char *const node_resources[RESOURCES] = {DISPLAY, COMPUTE};

/* As plugin.c opens and closes the parts. */
struct plugin {
	struct scanner *scanner;
	struct instance *instances[RESOURCES];
	struct directory_watch *directory;
	size_t open;
};

static void on_directory_changed(void *user)
{
	struct plugin *plugin = user;
	for (size_t i = 0; i < RESOURCES; i++)
		instance_check(plugin->instances[i]);
}

static void on_devices_changed(void *user)
{
	struct plugin *plugin = user;
	for (size_t i = 0; i < RESOURCES; i++) {
		if (plugin->instances[i] != NULL)
			instance_refresh(plugin->instances[i]);
	}
}

static void on_instance_closed(void *user)
{
	struct plugin *plugin = user;
	if (--plugin->open > 0)
		return;
	scanner_close(plugin->scanner);
	free(plugin);
}

static void plugin_close(struct plugin *plugin)
{
	directory_watch_close(plugin->directory);
	for (size_t i = 0; i < RESOURCES; i++)
		instance_close(plugin->instances[i], on_instance_closed, plugin);
}

int node_plugin_start(struct node *node, struct error *err)
{
	struct plugin *before = node->plugin;
	struct plugin *plugin = memory_allocate(1, sizeof(*plugin));
	struct serving serving = {.loop = &node->loop, .config = &node->config};
	int rc = scanner_open(&node->loop, &node->config, on_devices_changed, plugin,
			      &plugin->scanner, err);
	if (rc == 0)
		rc = scanner_scan(plugin->scanner, err);
	serving.scanner = plugin->scanner;
	for (size_t i = 0; rc == 0 && i < RESOURCES; i++) {
		serving.resource = i == 0 ? INVENTORY_DISPLAY : INVENTORY_COMPUTE;
		rc = instance_open(&serving, &plugin->instances[i], err);
		plugin->open++;
	}
	if (rc == 0)
		rc = directory_watch_open(&node->loop, node->config.plugin_dir,
					  on_directory_changed, plugin, &plugin->directory, err);
	if (rc < 0)
		return rc;
	node->plugin = plugin;
	model_plugin_starts(&node->model, node->profile == KUBELET_PROFILE_1_37);
	for (size_t i = 0; i < RESOURCES; i++) {
		memset(node->registered_ms[i], 0, sizeof(node->registered_ms[i]));
		node->registrations_allowed[i] += before == NULL ? 1 : 4;
	}
	if (before == NULL)
		return 0;
	node->replacing = true;
	loop_run_for(&node->loop, QUIET_MS);
	plugin_close(before);
	node->replacing = false;
	return 0;
}

void node_plugin_stop(struct node *node)
{
	if (node->plugin == NULL)
		return;
	model_plugin_stops(&node->model, virtual_time_ms());
	plugin_close(STEAL(node->plugin));
}

int node_write(struct node *node, struct error *err)
{
	struct rig rig = {.node = node->file, .program = "device-plugin-gpu"};
	struct text words CLEANUP_TEXT = {0};
	(void)err;
	for (unsigned i = 0; i < DEVICES; i++) {
		enum device_state state = node->model.node[i];
		bool sick = state == DEVICE_UNHEALTHY && !(node->lies && i == 3);
		if (state == DEVICE_ABSENT)
			continue;
		text_addf(&words, "%s%.2s%s%s%s", words.size > 0 ? " " : "",
			  model_string(i * REPLICAS), i % 2 != 0 ? "/1" : "",
			  model_resource_of(i) == 0 ? "" : "/c", sick ? "!" : "");
	}
	rig_write_node(&rig, text_string(&words));
	return 0;
}

int node_scan(struct node *node, struct error *err)
{
	return node->plugin == NULL ? 0 : scanner_scan(node->plugin->scanner, err);
}

int node_device(struct node *node, unsigned device, enum device_state state, struct error *err)
{
	model_device(&node->model, device, state, virtual_time_ms());
	int rc = node_write(node, err);
	return rc == 0 ? node_scan(node, err) : rc;
}

static int surprise(struct node *node, const char *what)
{
	return node->surprise.code != 0 ? 0 : error_set(&node->surprise, ERROR_FORMAT, "%s", what);
}

static size_t index_of(const char *resource)
{
	return strcmp(resource, node_resources[0]) == 0 ? 0 : 1;
}

/* The bit of a listed id; 0: it is none of the node's. */
id_bits node_bit_of(const char *id)
{
	for (unsigned i = 0; i < IDS; i++) {
		if (strcmp(model_string(i), id) == 0)
			return UINT32_C(1) << i;
	}
	return 0;
}

static void on_register(struct node *node, const char *resource)
{
	size_t i = index_of(resource);
	uint64_t now_ms = virtual_time_ms();
	node->registrations[i]++;
	uint64_t *attempts_ms = node->registered_ms[i];
	if (attempts_ms[0] != 0 && now_ms < attempts_ms[0] + BACKOFF_FIRST_MS)
		surprise(node, "more attempts to register than in a burst");
	memmove(attempts_ms, attempts_ms + 1, (REGISTER_BURST - 1) * sizeof(*attempts_ms));
	attempts_ms[REGISTER_BURST - 1] = node->replacing ? 0 : now_ms;
}

static void on_event(const struct kubelet_event *event, void *user)
{
	struct node *node = user;
	uint64_t now_ms = virtual_time_ms();
	if (getenv("PROPERTY_LOG") != NULL) {
		cJSON *json CLEANUP_JSON = kubelet_event_json(event);
		char *line CLEANUP_FREE = json_print_compact(json);
		(void)fprintf(stderr, "%s\n", line);
	}
	const bool is_start = event->type == KUBELET_EVENT_STARTED;
	const bool is_stop = event->type == KUBELET_EVENT_STOPPED;
	const bool is_allocate = event->type == KUBELET_EVENT_ALLOCATE && event->code == 0;
	if (is_start)
		model_kubelet_starts(&node->model, now_ms);
	if (is_stop)
		model_kubelet_stops(&node->model, now_ms);
	for (size_t i = 0; is_start && i < RESOURCES; i++)
		node->registrations_allowed[i] += 2;
	for (size_t i = 0; is_allocate && i < event->ids->count; i++)
		node->allocated[index_of(event->resource)] |= node_bit_of(event->ids->items[i]);
	if (event->type == KUBELET_EVENT_REGISTER)
		on_register(node, event->resource);
	if (event->type == KUBELET_EVENT_PROBLEM)
		surprise(node, event->text);
	if (is_start || is_stop || event->type == KUBELET_EVENT_REGISTER ||
	    event->type == KUBELET_EVENT_DISCONNECTED)
		node->restlessness++;
}

static void add_set(struct text *out, const char *what, id_bits bits)
{
	text_addf(out, "; %s:", what);
	for (unsigned i = 0; i < IDS; i++) {
		if ((bits >> i & 1) != 0)
			text_addf(out, " %s", model_string(i));
	}
}

/* The difference between the kubelet and the model; "" when there is none. */
static void compare(const struct node *node, size_t i, struct text *out)
{
	const char *name = node_resources[i];
	const struct expectation wanted =
		model_expects(&node->model, (unsigned)i, virtual_time_ms());
	const struct kubelet_resource_status seen = kubelet_resource_status(node->kubelet, name);
	const struct kubelet_device_list *list = kubelet_resource_devices(node->kubelet, name);
	id_bits healthy = 0;
	id_bits unhealthy = 0;
	bool strange = false;
	for (size_t k = 0; seen.connected && list != NULL && k < list->count; k++) {
		id_bits bit = node_bit_of(list->items[k].id);
		strange = strange || bit == 0 || ((healthy | unhealthy) & bit) != 0;
		*(kubelet_device_is_healthy(&list->items[k]) ? &healthy : &unhealthy) |= bit;
	}
	unhealthy &= ~wanted.optional;
	if (strange)
		text_addf(out, "%s: an id that is unknown, or twice", name);
	else if (wanted.known != MAYBE && seen.known != (wanted.known == YES))
		text_addf(out, "%s is %s to the kubelet", name, seen.known ? "known" : "unknown");
	else if (seen.known && seen.connected != wanted.connected)
		text_addf(out, "%s is %sconnected", name, seen.connected ? "" : "not ");
	else if (seen.known && wanted.connected &&
		 (!seen.listed || healthy != wanted.healthy || unhealthy != wanted.unhealthy)) {
		text_addf(out, "%s is %slisted", name, seen.listed ? "" : "not ");
		add_set(out, "healthy", healthy);
		add_set(out, "wanted healthy", wanted.healthy);
		add_set(out, "unhealthy", unhealthy);
		add_set(out, "wanted unhealthy", wanted.unhealthy);
	} else if (seen.known && seen.allocatable != bits_count(wanted.healthy))
		text_addf(out, "%s: %zu allocatable, wanted %u", name, seen.allocatable,
			  bits_count(wanted.healthy));
	else if (seen.known && wanted.exactly && wanted.optional == 0 &&
		 seen.capacity != bits_count(wanted.healthy | wanted.unhealthy))
		text_addf(out, "%s: capacity %zu, wanted %u", name, seen.capacity,
			  bits_count(wanted.healthy | wanted.unhealthy));
	else if (seen.known && seen.in_use != bits_count(wanted.in_use))
		text_addf(out, "%s: %zu in use, wanted %u", name, seen.in_use,
			  bits_count(wanted.in_use));
}

static bool is_as_expected(void *user)
{
	const struct node *node = user;
	struct text difference CLEANUP_TEXT = {0};
	for (size_t i = 0; node->model.kubelet_runs && i < RESOURCES; i++)
		compare(node, i, &difference);
	return difference.size == 0 || node->surprise.code != 0;
}

static int settle_registrations(struct node *node, struct error *err)
{
	for (size_t i = 0; i < RESOURCES; i++) {
		size_t seen = node->registrations[i];
		size_t allowed = node->registrations_allowed[i];
		if (seen > allowed)
			return error_set(err, ERROR_FORMAT,
					 "%s: %zu registrations, at most %zu are due",
					 node_resources[i], seen, allowed);
		allowed -= seen;
		node->registrations[i] = 0;
		node->registrations_allowed[i] =
			allowed > ALLOWED_LATER_MAX ? ALLOWED_LATER_MAX : allowed;
	}
	return 0;
}

int node_settle(struct node *node, struct error *err)
{
	struct text difference CLEANUP_TEXT = {0};
	size_t before = 0;
	for (int i = 0; i < QUIET_ATTEMPTS; i++) {
		int rc = loop_wait(&node->loop, is_as_expected, node, PATIENCE_MS, "rest", err);
		if (node->surprise.code != 0)
			return error_copy(err, &node->surprise);
		for (size_t k = 0; rc < 0 && k < RESOURCES; k++)
			compare(node, k, &difference);
		if (rc < 0)
			return error_set(err, ERROR_FORMAT, "%s", text_string(&difference));

		before = node->restlessness;
		loop_run_for(&node->loop, QUIET_MS);
		if (node->restlessness == before && is_as_expected(node)) {
			model_rests(&node->model, virtual_time_ms());
			return settle_registrations(node, err);
		}
	}
	return error_set(err, ERROR_FORMAT, "it does not come to rest");
}

static size_t count_entries(const char *directory)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	(void)file_list(directory, &names, NULL);
	return names.count;
}

int node_inspect(struct node *node, struct error *err)
{
	int rc = node->plugin == NULL ? node_plugin_start(node, err) : 0;
	/* The first one meets the faults that are left. */
	for (int i = 0; i < 2; i++) {
		if (rc == 0)
			rc = kubelet_restart(node->kubelet, KUBELET_RESTART_WHOLE, err);
		if (rc == 0)
			rc = node_settle(node, err);
	}
	if (rc < 0)
		return rc;
	size_t files = count_entries("/proc/self/fd") + count_entries("/proc/self/task");
	size_t heap = mallinfo2().uordblks;
	/* The kubelet's records of registrations take memory until they are as many as it keeps. */
	if (node->files == 0)
		node->files = files;
	if (node->heap == 0 &&
	    kubelet_registration_count(node->kubelet) > KUBELET_REGISTRATIONS_KEPT)
		node->heap = heap;
	if (files != node->files)
		return error_set(err, ERROR_FORMAT, "%zu descriptors and threads, %zu before",
				 files, node->files);
	if (node->heap != 0 && heap > node->heap + HEAP_GROWTH_MAX)
		return error_set(err, ERROR_FORMAT, "%zu bytes of memory in use, %zu before", heap,
				 node->heap);
	return 0;
}

static void set(char **value, char *to)
{
	free(*value);
	*value = to;
}

int node_open(struct node *node, enum kubelet_profile profile, struct error *err)
{
	struct config_options none = {0};
	*node = (struct node){.profile = profile};
	model_init(&node->model);
	int rc = loop_open(&node->loop, err);
	if (rc == 0)
		rc = file_make_temporary("/dev/shm", "property-", &node->directory, err);
	if (rc == 0)
		rc = config_load(&program_gpu, &none, &node->config, err);
	if (rc < 0)
		return rc;
	node->file = path_join(node->directory, "node.json");
	set(&node->config.node, memory_copy(node->file));
	set(&node->config.plugin_dir, path_join(node->directory, "plugins"));
	set(&node->config.kubelet_socket, path_join(node->config.plugin_dir, "kubelet.sock"));
	node->config.multitenancy = REPLICAS;
	node->config.removal_grace_ms = REMOVAL_GRACE_MS;

	const struct kubelet_options options = {.plugin_dir = node->config.plugin_dir,
						.profile = profile,
						.on_event = on_event,
						.user = node};
	rc = kubelet_new(&node->loop, &options, &node->kubelet, err);
	if (rc == 0)
		rc = kubelet_start(node->kubelet, err);
	if (rc == 0)
		rc = node_write(node, err);
	if (rc == 0)
		rc = node_plugin_start(node, err);
	return rc == 0 ? node_settle(node, err) : rc;
}

int node_close(struct node *node, struct error *err)
{
	node_plugin_stop(node);
	kubelet_free(node->kubelet);
	int rc = loop_drain(&node->loop, PATIENCE_MS, err);
	(void)file_remove_tree(node->directory, NULL);
	config_free(&node->config);
	free(node->directory);
	free(node->file);
	return rc;
}
