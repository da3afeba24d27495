/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/tests/rig.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"

#include <string.h>

static void on_event(const struct kubelet_event *event, void *user)
{
	struct rig *rig = user;
	const char *text = event->text != NULL ? event->text : event->socket;
	rig->events[event->type]++;
	(void)snprintf(rig->last_text[event->type], sizeof(rig->last_text[event->type]), "%s",
		       text == NULL ? "" : text);
	cJSON *json CLEANUP_JSON = kubelet_event_json(event);
	CU_ASSERT_PTR_NOT_NULL(json);
	if (rig->on_event != NULL)
		rig->on_event(event, rig->user);
	if (getenv("KUBELET_TEST_EVENTS") != NULL) {
		char *line CLEANUP_FREE = json_print_compact(json);
		(void)fprintf(stderr, "%s\n", line);
	}
}

static void on_note(const char *line, void *user)
{
	struct rig *rig = user;
	if (rig->on_note != NULL)
		rig->on_note(line, rig->user);
	if (getenv("KUBELET_TEST_EVENTS") != NULL)
		(void)fprintf(stderr, "  plugin %s\n", line);
}

void rig_init(struct rig *rig)
{
	*rig = (struct rig){0};
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&rig->loop), 0);
	CHECK_OK(file_make_temporary(NULL, "kubelet-test-", &rig->directory, ERR));
	rig->plugin_dir = path_join(rig->directory, "device-plugins");
	rig->registry_dir = path_join(rig->directory, "plugins_registry");
}

void rig_make(struct rig *rig, const struct kubelet_options *options)
{
	struct kubelet_options all = {0};
	if (options != NULL)
		all = *options;
	all.plugin_dir = rig->plugin_dir;
	all.on_event = on_event;
	all.user = rig;
	CHECK_OK(kubelet_new(&rig->loop, &all, &rig->kubelet, ERR));
}

void rig_start(struct rig *rig, enum kubelet_profile profile)
{
	const struct kubelet_options options = {.profile = profile, .seed = 1};
	rig_init(rig);
	rig_make(rig, &options);
	CHECK_OK(kubelet_start(rig->kubelet, ERR));
}

void rig_close(struct rig *rig)
{
	for (size_t i = 0; i < rig->plugin_count; i++) {
		scripted_plugin_free(rig->plugins[i]);
		script_file_free(&rig->files[i]);
	}
	kubelet_free(rig->kubelet);
	CHECK_OK(loop_drain(&rig->loop, RIG_PATIENCE_MS, ERR));
	CHECK_OK(file_remove_tree(rig->directory, ERR));
	free(rig->directory);
	free(rig->plugin_dir);
	free(rig->registry_dir);
}

struct scripted_plugin *rig_plugin(struct rig *rig, const char *json)
{
	CU_ASSERT_FATAL(rig->plugin_count < RIG_PLUGINS_MAX);
	char *json_text CLEANUP_FREE = text_format("{\"plugins\": [%s]}", json);
	if (json_text == NULL)
		abort();
	for (char *at = json_text; *at != '\0'; at++)
		if (*at == '\'')
			*at = '"';
	cJSON *document CLEANUP_JSON = NULL;
	struct script_file *file = &rig->files[rig->plugin_count];
	const struct scripted_plugin_options options = {.plugin_dir = rig->plugin_dir,
							.registry_dir = rig->registry_dir,
							.on_note = on_note,
							.user = rig};
	CHECK_OK(json_parse(json_text, strlen(json_text), &document, ERR));
	CHECK_OK(script_file_read(document, file, ERR));
	struct scripted_plugin **plugin = &rig->plugins[rig->plugin_count++];
	CHECK_OK(scripted_plugin_start(&rig->loop, &file->plugins[0], &options, plugin, ERR));
	return *plugin;
}

void rig_stop_plugin(struct rig *rig, struct scripted_plugin *plugin)
{
	for (size_t i = 0; i < rig->plugin_count; i++)
		if (rig->plugins[i] == plugin)
			rig->plugins[i] = NULL;
	scripted_plugin_free(plugin);
}

struct registration_wait {
	const struct kubelet *kubelet;
	size_t from;
	const struct kubelet_registration *found;
};

/* An attempt that was answered or abandoned. */
static bool is_registered(void *user)
{
	struct registration_wait *wait = user;
	registration_each (seen, wait->kubelet, wait->from) {
		wait->found = seen;
		if (seen->answered_ms != 0 || seen->abandoned)
			return true;
	}
	return false;
}

const struct kubelet_registration *rig_registration(struct rig *rig, size_t index)
{
	struct registration_wait wait = {.kubelet = rig->kubelet, .from = index};
	rig_wait(rig, is_registered, &wait, "a registration");
	return wait.found;
}

void rig_wait_listed(struct rig *rig)
{
	CHECK_OK(kubelet_wait_listed(rig->kubelet, RIG_RESOURCE, RIG_PATIENCE_MS, ERR));
}

void rig_wait(struct rig *rig, loop_condition *done, void *user, const char *what)
{
	CHECK_OK(loop_wait(&rig->loop, done, user, RIG_PATIENCE_MS, what, ERR));
}

struct allocatable_wait {
	const struct kubelet *kubelet;
	size_t count;
};

static bool is_allocatable(void *user)
{
	const struct allocatable_wait *wait = user;
	return kubelet_resource_status(wait->kubelet, RIG_RESOURCE).allocatable == wait->count;
}

void rig_wait_allocatable(struct rig *rig, size_t count)
{
	struct allocatable_wait wait = {rig->kubelet, count};
	rig_wait(rig, is_allocatable, &wait, "allocatable devices");
}

struct event_wait {
	const struct rig *rig;
	enum kubelet_event_type type;
	size_t count;
};

static bool event_came(void *user)
{
	const struct event_wait *wait = user;
	return wait->rig->events[wait->type] >= wait->count;
}

void rig_wait_event(struct rig *rig, enum kubelet_event_type type, size_t count)
{
	struct event_wait wait = {rig, type, count};
	rig_wait(rig, event_came, &wait, kubelet_event_name(type));
}

struct kubelet_outcome rig_admit(struct rig *rig, const char *pod, const char *container,
				 size_t count)
{
	const struct kubelet_limit limit = {.resource = RIG_RESOURCE, .count = count};
	const struct kubelet_container request = {
		.pod = pod, .name = container, .limits = &limit, .limit_count = 1};
	struct kubelet_outcome outcome = {0};
	CHECK_OK(kubelet_admit(rig->kubelet, &request, RIG_PATIENCE_MS, &outcome, ERR));
	return outcome;
}
