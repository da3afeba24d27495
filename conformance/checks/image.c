/* SPDX-License-Identifier: MIT */
/* Images: predictions of the rules of images and hosts for the run's launches, and how these ended. */
#include "base/file.h"
#include "base/gpu_apis.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/offer.h"
#include "conformance/checks/prediction.h"
#include "conformance/checks/stage.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"
#include "reports/view.h"

#include <string.h>

enum { NOTES_MAX = 8 };

/* Launches of a kind that the run has not made yet. */
struct trial {
	struct rig *rig;
	struct stage *stage;
	struct text_list tried; /* ids of devices */
};

/* stage_end() records its end. */
static void try_launch(struct stage *stage, const char *label, const char *const *command,
		       const struct grant *grant)
{
	const cJSON *document = NULL;
	struct probe *probe = stage_start(stage, label, command, grant);
	if (probe != NULL)
		(void)stage_end(stage, probe, false, &document);
}

static bool try_offer(struct offer *offer, void *user)
{
	struct trial *trial = user;
	if (offer->granted.count != 1)
		return true;
	const struct discovery_device *device = offer->granted.devices[0];
	if (text_list_has(&trial->tried, device->id))
		return true;

	/* The first API through which the device computes. */
	const struct gpu_api *api = gpu_apis;
	while (api->name != NULL && !api_computes(device, api))
		api++;
	if (api->name == NULL || !offer_admit(trial->rig, offer))
		return true;
	const char *const command[] = {check_format(trial->rig->run, "probe-%s", api->name), NULL};
	text_list_add(&trial->tried, device->id);
	try_launch(trial->stage, device->id, command, &offer->grant);
	return true;
}

static bool has(const cJSON *predictions, bool api)
{
	json_each (prediction, predictions) {
		if ((view_string(prediction, "/api")[0] != '\0') == api)
			return true;
	}
	return false;
}

/* The predicted launches of the run. If none is of the kind that a row is about (`api`: launches with an
 * API), makes such launches if possible. NULL: recorded. Caller frees. */
static cJSON *launches(struct check_run *run, bool api)
{
	static const char *const bare[] = {"probe-visibility", NULL};
	struct facts facts CLEANUP_FACTS = {0};
	struct error err = {0};
	if (!check_works(run, facts_read(check_context(run)->run_directory, &facts, &err), NULL,
			 &err))
		return NULL;
	if (facts.unknown[0] != '\0') {
		check_unsupported(run, "nothing is predicted: %s", facts.unknown);
		return NULL;
	}
	if (facts.unread[0] != '\0')
		check_note(run, "the image's layers were not read: %s", facts.unread);
	cJSON *all = predictions_read(run);
	if (all == NULL || has(all, api))
		return all;
	cJSON_Delete(all);

	struct rig *rig = api ? rig_ready(run) : NULL;
	struct stage *stage =
		!api || rig != NULL ? stage_open(run, api ? &rig->loop : NULL, 0) : NULL;
	struct trial trial = {.rig = rig, .stage = stage};
	if (stage != NULL && api)
		(void)offers_each(rig, try_offer, &trial);
	else if (stage != NULL)
		try_launch(stage, "bare", bare, NULL);
	text_list_free(&trial.tried);
	return predictions_read(run);
}

/* Which rules a row is about, and whether they concern launches with an API. */
struct subject {
	const char *rules[4]; /* NULL-ended */
	bool api;
	const char *none; /* why the row does not apply where no rule found anything */
};

/* A body: the findings of the row's rules, and that such launches work. */
static void judge_rules(struct check_run *run)
{
	const struct subject *subject = check_row(run)->param;
	TALLY(tally, run, "launches", "can work, and do");
	cJSON *all CLEANUP_JSON = launches(run, subject->api);
	size_t open = 0;
	size_t left_to_image = 0;
	json_each (prediction, all) {
		const char *program = view_string(prediction, "/program");
		const char *outcome = view_string(prediction, "/outcome");
		bool worked = text_equal(outcome, "worked");
		json_each (finding, json_pointer(prediction, "/findings")) {
			const char *rule = view_string(finding, "/rule");
			const char *reason = view_string(finding, "/reason");
			bool refused = text_equal(view_string(finding, "/verdict"),
						  compat_verdict_name(COMPAT_CANNOT_WORK));
			if (subject->rules[text_position(subject->rules, rule)] == NULL)
				continue;
			if (text_equal(rule, COMPAT_IMAGE_DRIVER)) {
				if (left_to_image++ == 0)
					check_unsupported(run, "%s: %s", program, reason);
			} else if (refused || worked) {
				tally_add(&tally, worked, "%s: %s: %s", program, rule, reason);
			} else if (!text_equal(outcome, "stopped") && open++ < NOTES_MAX) {
				check_note(run, "%s (%s): %s: %s: %s", program, outcome, rule,
					   reason, view_string(prediction, "/symptom"));
			}
		}
	}
	if (all == NULL || tally.count != 0)
		return;
	if (open != 0)
		check_unsupported(run, "no launch that the rules are about worked");
	else if (left_to_image == 0)
		check_not_applicable(run, "%s", subject->none);
}

static void predicted(struct check_run *run)
{
	TALLY(tally, run, "launches", "as the rules say");
	cJSON *all CLEANUP_JSON = launches(run, false);
	size_t open = 0;
	json_each (prediction, all) {
		const cJSON *agrees = json_pointer(prediction, "/agrees");
		const char *program = view_string(prediction, "/program");
		const char *outcome = view_string(prediction, "/outcome");
		const char *rule = view_string(prediction, "/rule");
		const char *reason = view_string(prediction, "/reason");
		const char *words = view_string(prediction, "/symptom");
		/* Launches that were not made, or that the rules could not judge, decide nothing. */
		if (cJSON_IsBool(agrees))
			tally_add(&tally, cJSON_IsTrue(agrees), "%s: %s said %s (%s); it %s%s%s",
				  program, rule, view_string(prediction, "/verdict"), reason,
				  outcome, words[0] != '\0' ? ": " : "", words);
		else if (text_equal(outcome, "not-launched"))
			check_unsupported(
				run,
				"%s cannot work and was not launched: %s: %s (--launch-anyway)",
				program, rule, reason);
		else if (!text_equal(outcome, "stopped") && open++ < NOTES_MAX)
			check_note(run, "%s %s, for which the rules made no prediction: %s",
				   program, outcome, words);
	}
	if (all != NULL && tally.count == 0)
		check_unsupported(run, "the rules made no prediction for any launch");
}

/* Paths that only probe-visibility looks for, and no driver. */
#define DENIED_PATH  "/dev/mali-gpucert-denied"
#define GRANTED_PATH "/dev/mali-gpucert-granted"

/* Launches a container that is granted the node, or that only has it among its files. *outcome is the
 * result of opening it. False: it proves nothing about this node, or recorded. */
static bool open_node(struct stage *stage, const char *path, bool given, const char **outcome)
{
	const struct grant_entry entry = {.container_path = given ? GRANTED_PATH : DENIED_PATH,
					  .host_path = path,
					  .permissions = "rw"};
	struct grant grant CLEANUP_GRANT = {0};
	struct node_file file = {0};
	grant_add(&grant, given ? GRANT_DEVICE : GRANT_MOUNT, &entry);
	if (!node_file_identify(path, &file))
		return false;
	struct probe *probe = stage_start_opening(stage, given ? "given" : "denied",
						  entry.container_path, &grant);
	if (probe == NULL)
		return false;

	/* A container that has the same node at another path got it from the runtime. */
	const struct container_view *view = probe_view(probe);
	bool from_runtime = false;
	for (size_t i = 0; view != NULL && i < view->node_count; i++) {
		const struct container_node *node = &view->nodes[i];
		if (node_file_has_number(&file, node->block, node->major, node->minor) &&
		    !text_equal(node->path, DENIED_PATH) && !text_equal(node->path, GRANTED_PATH))
			from_runtime = true;
	}

	const cJSON *document = NULL;
	if (stage_end(stage, probe, from_runtime, &document) == NULL || from_runtime)
		return false;
	*outcome = "(not reported)";
	json_each (node, json_pointer(document, "/nodes")) {
		if (text_equal(view_string(node, "/path"), entry.container_path))
			*outcome = view_string(node, "/open/readWrite");
	}
	return true;
}

/* Records whether a container opens a node that it was not granted. False: no container can open it at all. */
static bool try_node(struct stage *stage, struct check_run *run, const char *path)
{
	const char *outcome = "";
	if (!file_exists(path) || !open_node(stage, path, true, &outcome) ||
	    !text_equal(outcome, "ok") || !open_node(stage, path, false, &outcome))
		return false;
	(void)check_expect_text(run, check_format(run, "opening %s, which is not given", path),
				outcome, "EPERM");
	return true;
}

static void denied_device(struct check_run *run)
{
	static const char *const others[] = {"/dev/fuse", "/dev/kvm", "/dev/loop-control",
					     "/dev/autofs", "/dev/hwrng"};
	const struct discovery_snapshot *node = check_context(run)->node;
	struct stage *stage = stage_open(run, NULL, 0);
	bool tried = stage == NULL;
	node_each (device, node) {
		for (size_t i = 0; !tried && i < device->node_count; i++)
			tried = try_node(stage, run, device->nodes[i].path);
	}
	for (size_t i = 0; !tried && i < ARRAY_SIZE(others); i++)
		tried = try_node(stage, run, others[i]);
	if (!tried)
		check_unsupported(run, "the node has no device that a container opens when it is "
				       "given it and that containers do not have by themselves");
}

static const struct subject platform = {
	{"platform.os", "platform.architecture", "windows.build", NULL},
	false,
	"no rule is about the platform"};
static const struct subject glibc = {{"linux.driver-glibc", NULL},
				     true,
				     "no container is given a driver by files that can be read"};
static const struct subject libraries = {
	{"linux.missing-libraries", "linux.driver-library", COMPAT_IMAGE_DRIVER, NULL},
	true,
	"no rule is about the libraries of these APIs, or the layers were not read"};

static const char *const tags_image[] = {"container", "image", NULL};

#define IMAGE(name, ...) CHECK("image." name, __VA_ARGS__, .timeout_s = 180, .tags = tags_image)

const struct check image_checks[] = {
	IMAGE("architecture", IMG_01, CRITICAL, 1, judge_rules,
	      .title = "The image matches the node's system, build and architecture",
	      .advice = "Use an image that is built for the node; the reason names both. 'gpucert "
			"image check' predicts this before anything is started.",
	      .needs = {.containers = true}, .param = &platform),
	IMAGE("driver-glibc", IMG_02, CRITICAL, 1, judge_rules,
	      .title = "The image's C library loads the mounted driver files",
	      .advice = "Build the image on a newer distribution with glibc, or put the driver's "
			"user-mode libraries into it.",
	      .needs = {.os = "linux", .devices = 1, .containers = true},
	      .depends_on = "allocate.one-response", .param = &glibc),
	IMAGE("missing-library", IMG_03, CRITICAL, 1, judge_rules,
	      .title = "Programs and APIs find the libraries that they need",
	      .advice = "Put the library that the reason names into the image (a loader such as "
			"libvulkan.so.1), or mount the driver's by the plugin.",
	      .needs = {.os = "linux", .devices = 1, .containers = true},
	      .depends_on = "allocate.one-response", .param = &libraries),
	IMAGE("denied-device", IMG_04, CRITICAL, 1, denied_device,
	      .title = "A device node that was not granted cannot be opened",
	      .advice =
		      "Check the runtime's device cgroup rules and its base specification: it does "
		      "not restrict devices.",
	      .needs = {.os = "linux", .live_node = true, .containers = true}),
	IMAGE("prediction", IMG_05, HIGH, 1, predicted,
	      .title = "Launches end as the image rules predict",
	      .advice = "Report the rule that the reason names, with report.json: it is wrong for "
			"this node. Do not rely on it in 'gpucert image check'.",
	      .needs = {.containers = true}),
	{.id = NULL},
};
