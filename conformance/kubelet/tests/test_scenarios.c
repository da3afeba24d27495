/* SPDX-License-Identifier: MIT */
/* Plays the scenarios of scenarios.h against the fake kubelet. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "conformance/kubelet/doubles/script_parts.h"
#include "conformance/kubelet/doubles/scripted_internal.h"
#include "conformance/kubelet/tests/rig.h"
#include "conformance/kubelet/tests/scenarios.h"

#include <string.h>

enum { IDS_SHOWN = 8, SETTLE_MS = 5 };

struct play {
	struct rig rig;
	const struct scenario *scenario;
	struct text_list lines;	 /* what happened */
	size_t taken;		 /* of them, by "<" */
	const char *call, *step; /* of "during"; NULL: none is pending */
	bool failed;
};

static void fail(struct play *play, const char *step, const char *saw)
{
	(void)fprintf(stderr, "%s: %s\n    saw: %s\n", play->scenario->title, step, saw);
	play->failed = true;
	CU_ASSERT(false);
}

/* Appends with DIR and REG for the directories. */
static void add_text(const struct play *play, struct text *line, const char *string)
{
	const char *const dirs[] = {play->rig.plugin_dir, play->rig.registry_dir};
	const char *const names[] = {"DIR", "REG"};
	while (string != NULL && *string != '\0') {
		size_t used = 0;
		for (size_t i = 0; i < ARRAY_SIZE(dirs) && used == 0; i++) {
			if (!text_starts_with(string, dirs[i]))
				continue;
			text_add(line, names[i]);
			used = strlen(dirs[i]);
		}
		if (used == 0)
			text_append(line, string, used = 1);
		string += used;
	}
}

static void add_ids(struct text *line, const struct text_list *ids)
{
	struct text_list sorted CLEANUP_TEXT_LIST = {0};
	for (size_t i = 0; ids != NULL && i < ids->count; i++)
		text_list_add(&sorted, ids->items[i]);
	text_list_sort(&sorted);
	for (size_t i = 0; i < sorted.count && i < IDS_SHOWN; i++)
		text_addf(line, "%s%s", i == 0 ? "" : ",", sorted.items[i]);
}

static void add_code(const struct play *play, struct text *line, const struct kubelet_event *event)
{
	text_addf(line, "%s%s", rpc_code_name(event->code),
		  event->text != NULL && event->text[0] != '\0' ? " " : "");
	add_text(play, line, event->text);
}

/* The line of an event; empty: it is of the harness alone, as the end of a stream that the kubelet
 * itself closed. */
static void describe(const struct play *play, const struct kubelet_event *event, struct text *line)
{
	const struct grant *grant = event->grant;
	switch ((int)event->type) {
	case KUBELET_EVENT_REGISTER_ANSWERED:
		text_add(line, event->code == RPC_OK ? "registered" : "answer ");
		if (event->code != RPC_OK)
			add_code(play, line, event);
		break;
	case KUBELET_EVENT_REGISTER_ABANDONED:
		text_add(line, "abandoned");
		break;
	case KUBELET_EVENT_DEVICES:
		text_addf(line, "list %zu", event->devices->count);
		break;
	case KUBELET_EVENT_DISCONNECTED:
		if (event->code == RPC_CANCELLED)
			break;
		text_add(line, "end ");
		add_code(play, line, event);
		break;
	case KUBELET_EVENT_RESOURCE:
		text_addf(line, "resource %lld/%lld", (long long)event->capacity,
			  (long long)event->allocatable);
		break;
	case KUBELET_EVENT_RESOURCE_REMOVED:
		text_add(line, "removed");
		break;
	case KUBELET_EVENT_PREFERRED:
		text_add(line, "preferred ");
		add_ids(line, event->ids);
		break;
	case KUBELET_EVENT_ALLOCATE:
		text_add(line, "allocate ");
		add_ids(line, event->ids);
		text_addf(line, " %s", rpc_code_name(event->code));
		break;
	case KUBELET_EVENT_PRE_START:
		text_addf(line, "pre-start %s", rpc_code_name(event->code));
		break;
	case KUBELET_EVENT_ADMITTED:
		text_addf(line, "admitted %s/%s", event->pod, event->container);
		break;
	case KUBELET_EVENT_REJECTED:
	case KUBELET_EVENT_PROBLEM:
		text_addf(line, "%s ",
			  event->type == KUBELET_EVENT_REJECTED ? "rejected" : "problem");
		add_text(play, line, event->text);
		break;
	case KUBELET_EVENT_CONTAINER_OPTIONS:
		text_addf(line, "container envs=%zu mounts=%zu devices=%zu annotations=%zu cdi=%zu",
			  grant->envs.count, grant->mounts.count, grant->devices.count,
			  grant->annotations.count, grant->cdi_devices.count);
		break;
	case KUBELET_EVENT_WATCHER_NOTIFIED:
		/* Of a refusal, the plugin's side has the line. */
		if (event->text == NULL || strstr(event->text, "failed to send") == NULL)
			break;
		text_add(line, "notified ");
		add_text(play, line, event->text);
		break;
	case KUBELET_EVENT_SOCKET_SWEPT:
		text_add(line, "swept");
		break;
	default:
		break;
	}
}

static void on_event(const struct kubelet_event *event, void *user)
{
	struct play *play = user;
	struct text line CLEANUP_TEXT = {0};
	describe(play, event, &line);
	if (line.size > 0)
		text_list_add(&play->lines, text_string(&line));
}

/*
 * Steps.
 */

static struct scripted_plugin *plugin_at(struct play *play, const char **words)
{
	char *end = NULL;
	size_t index = strtoul(*words, &end, 10);
	CU_ASSERT_FATAL(index < play->rig.plugin_count && play->rig.plugins[index] != NULL);
	*words = end + (*end == ' ' ? 1 : 0);
	return play->rig.plugins[index];
}

static void do_list(struct play *play, const char *words)
{
	struct scripted_plugin *plugin = plugin_at(play, &words);
	struct kubelet_device_list list = {0};
	char *text CLEANUP_FREE = strdup(words);
	cJSON *json CLEANUP_JSON = NULL;
	for (char *at = text; at != NULL && *at != '\0'; at++)
		if (*at == '\'')
			*at = '"';
	CHECK_OK(json_parse(text, strlen(text), &json, ERR));
	struct json_at root = json_root(json);
	CHECK_OK(script_read_devices(&root, &list, ERR));
	CHECK_OK(scripted_plugin_list(plugin, &list, ERR));
	kubelet_device_list_free(&list);
}

static void do_fill(struct play *play, const char *words)
{
	struct scripted_plugin *plugin = plugin_at(play, &words);
	char *end = NULL;
	size_t count = strtoul(words, &end, 10);
	size_t extra = strtoul(end, NULL, 10);
	struct kubelet_device_list list = {.items = calloc(count, sizeof(*list.items))};
	CU_ASSERT_PTR_NOT_NULL_FATAL(list.items);
	/* 64 bytes: 4 for two lengths of the message, 51 of the id, 9 for the health */
	for (; list.items != NULL && list.count < count; list.count++) {
		int size = 51 + (int)(list.count + 1 == count ? extra : 0);
		list.items[list.count] = (struct kubelet_device){
			.id = text_format("%0*zu", size, list.count), .health = strdup("Healthy")};
	}
	CHECK_OK(scripted_plugin_list(plugin, &list, ERR));
	kubelet_device_list_free(&list);
}

static void do_admit(struct play *play, const char *words)
{
	char pod[64] = "", name[64] = "", kind[16] = "";
	size_t count = 0;
	CU_ASSERT_FATAL(sscanf(words, "%63[^/]/%63s %zu %15s", pod, name, &count, kind) >= 3);
	const struct kubelet_limit limit = {.resource = RIG_RESOURCE, .count = count};
	const struct kubelet_container container = {
		.pod = pod,
		.name = name,
		.kind = strcmp(kind, "init") == 0      ? KUBELET_CONTAINER_INIT
			: strcmp(kind, "sidecar") == 0 ? KUBELET_CONTAINER_RESTARTABLE_INIT
						       : KUBELET_CONTAINER_APP,
		.limits = &limit,
		.limit_count = 1};
	struct kubelet_outcome outcome = {0};
	CHECK_OK(kubelet_admit(play->rig.kubelet, &container, RIG_PATIENCE_MS, &outcome, ERR));
	kubelet_outcome_free(&outcome);
}

static void do_start(struct play *play, const char *words)
{
	char pod[64] = "", name[64] = "";
	struct kubelet_outcome outcome = {0};
	struct grant grant = {0};
	CU_ASSERT_FATAL(sscanf(words, "%63[^/]/%63s", pod, name) == 2);
	CHECK_OK(kubelet_start_container(play->rig.kubelet, pod, name, RIG_PATIENCE_MS, &outcome,
					 &grant, ERR));
	kubelet_outcome_free(&outcome);
	grant_free(&grant);
}

static void do_plugin(struct play *play, const char *words)
{
	(void)rig_plugin(&play->rig, words);
}

static void do_stop(struct play *play, const char *words)
{
	rig_stop_plugin(&play->rig, plugin_at(play, &words));
}

static void do_cut(struct play *play, const char *words)
{
	scripted_plugin_cut(plugin_at(play, &words));
}

static void do_unlink(struct play *play, const char *words)
{
	CU_ASSERT(remove(scripted_plugin_socket(plugin_at(play, &words))) == 0);
}

static void do_goaway(struct play *play, const char *words)
{
	rpc_server_say_goaway(plugin_at(play, &words)->server);
}

static void do_folder(struct play *play, const char *words)
{
	char *path CLEANUP_FREE = path_join(play->rig.registry_dir, words);
	CHECK_OK(file_make_directories(path, 0750, ERR));
}

static void do_remove(struct play *play, const char *words)
{
	kubelet_remove_pod(play->rig.kubelet, words);
}

static void do_advance(struct play *play, const char *words)
{
	kubelet_advance_time(play->rig.kubelet, strtoul(words, NULL, 10));
}

static void do_restart(struct play *play, const char *words)
{
	(void)words;
	CHECK_OK(kubelet_restart(play->rig.kubelet, KUBELET_RESTART_WHOLE, ERR));
}

static void do_during(struct play *play, const char *words)
{
	play->call = words;
	play->step = strchr(words, ' ') + 1;
}

static bool line_came(void *user)
{
	const struct play *play = user;
	return play->lines.count > play->taken;
}

static void do_expect(struct play *play, const char *wanted)
{
	struct error err = {0};
	char *step CLEANUP_FREE = text_format("wanted: %s", wanted);
	if (play->failed)
		return;
	if (loop_wait(&play->rig.loop, line_came, play, RIG_PATIENCE_MS, wanted, &err) != 0)
		fail(play, step, "nothing");
	else if (!text_glob(wanted, play->lines.items[play->taken]))
		fail(play, step, play->lines.items[play->taken]);
	play->taken++;
}

static void do_status(struct play *play, const char *wanted)
{
	struct kubelet_resource_status status =
		kubelet_resource_status(play->rig.kubelet, RIG_RESOURCE);
	char *saw CLEANUP_FREE = status.known ? text_format("%zu/%zu %zu", status.capacity,
							    status.allocatable, status.in_use)
					      : strdup("unknown");
	if (strcmp(saw, wanted) != 0)
		fail(play, wanted, saw);
}

static void do_step(struct play *play, const char *line)
{
	static const struct {
		const char *name;
		void (*act)(struct play *play, const char *words);
	} steps[] = {
		{"< ", do_expect},	{"= ", do_status},	  {"plugin ", do_plugin},
		{"list ", do_list},	{"fill ", do_fill},	  {"stop ", do_stop},
		{"cut ", do_cut},	{"unlink ", do_unlink},	  {"goaway ", do_goaway},
		{"folder ", do_folder}, {"admit ", do_admit},	  {"start ", do_start},
		{"remove ", do_remove}, {"advance ", do_advance}, {"restart", do_restart},
		{"during ", do_during},
	};
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (!text_starts_with(line, steps[i].name))
			continue;
		steps[i].act(play, line + strlen(steps[i].name));
		return;
	}
	fail(play, line, "no such step");
}

/* NotifyRegistrationStatus, as the plugin got it. */
static void on_told(struct play *play, const char *error)
{
	struct text line CLEANUP_TEXT = {0};
	text_add(&line, "told ");
	add_text(play, &line, error);
	text_list_add(&play->lines, text_string(&line));
}

/* A plugin's note: "RESOURCE: CALL called". */
static void on_note(const char *line, void *user)
{
	static const char refused[] = "registered: no ";
	struct play *play = user;
	const char *call = play->call;
	const char *note = strstr(line, ": ");
	size_t size = call == NULL ? 0 : (size_t)(play->step - 1 - call);
	if (note == NULL)
		return;
	note += 2;
	if (text_starts_with(note, refused))
		on_told(play, note + strlen(refused));
	if (call == NULL || strncmp(note, call, size) != 0 || strcmp(note + size, " called") != 0)
		return;
	play->call = NULL;
	do_step(play, play->step);
}

/* Whatever nobody expects is wrong, before the next step and at the end. */
static void expect_nothing(struct play *play, const char *step)
{
	if (!play->failed && line_came(play))
		fail(play, step, play->lines.items[play->taken]);
}

static void play_scenario(const struct scenario *scenario)
{
	struct play play = {.scenario = scenario};
	struct text_list steps CLEANUP_TEXT_LIST = {0};
	text_list_split(&steps, scenario->script, '\n');
	rig_init(&play.rig);
	play.rig.on_event = on_event;
	play.rig.on_note = on_note;
	play.rig.user = &play;
	const struct kubelet_options options = {.profile = scenario->profile,
						.seed = 1,
						.registry_dir = play.rig.registry_dir,
						.dial_timeout_ms = scenario->dial_ms,
						.pre_start_timeout_ms = scenario->pre_start_ms};
	rig_make(&play.rig, &options);
	CHECK_OK(kubelet_start(play.rig.kubelet, ERR));
	for (size_t i = 0; i < steps.count && !play.failed; i++) {
		const char *step = steps.items[i];
		if (step[0] == '\0')
			continue;
		if (step[0] != '<' && step[0] != '=')
			expect_nothing(&play, step);
		do_step(&play, step);
	}
	loop_run_for(&play.rig.loop, SETTLE_MS);
	expect_nothing(&play, "the end");
	CU_ASSERT_PTR_NULL(play.call);
	play.rig.on_event = NULL;
	play.rig.on_note = NULL;
	rig_close(&play.rig);
	text_list_free(&play.lines);
}

static void test_scenarios(void)
{
	const char *only = getenv("KUBELET_TEST_SCENARIO");
	CU_ASSERT(scenario_count >= 86);
	for (size_t i = 0; i < scenario_count; i++)
		if (only == NULL || strstr(scenarios[i].title, only) != NULL)
			play_scenario(&scenarios[i]);
}

UNIT_MAIN("kubelet scenarios", {"the fake kubelet behaves as the real one", test_scenarios})
