/* SPDX-License-Identifier: MIT */
/* Images: what the rules of images and hosts say of the run's launches, and what became of them. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/gpu_apis.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/offer.h"
#include "conformance/checks/prediction.h"
#include "conformance/checks/stage.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"
#include "conformance/runner/context.h"
#include "reports/view.h"

#include <string.h>

enum { NOTES_MAX = 8 };

/* Launches of which the run has seen none yet. */
struct trial {
	struct rig *rig;
	struct stage *stage;
	struct text_list tried; /* ids of devices */
};

/* What comes of it is what stage_end() records. */
static void try_launch(struct stage *stage, const char *label, const char *const *command,
		       const struct grant *grant)
{
	const cJSON *document = NULL;
	struct probe *probe = stage_start(stage, label, command, grant);
	if (probe != NULL)
		(void)stage_end(stage, probe, false, &document);
}

static void try_bare(struct check_run *run)
{
	static const char *const command[] = {"probe-visibility", NULL};
	struct stage *stage = stage_open(run, NULL);
	if (stage != NULL)
		try_launch(stage, "bare", command, NULL);
}

/* The first API through which the device computes. */
static const struct gpu_api *api_of(const struct discovery_device *device)
{
	const struct gpu_api *api = gpu_apis;
	while (api->name != NULL &&
	       (!api->tested || api->enumerates || api->encodes || !api_is_offered(device, api)))
		api++;
	return api->name != NULL ? api : NULL;
}

static bool try_offer(struct offer *offer, void *user)
{
	struct trial *trial = user;
	const struct discovery_device *device =
		offer->granted.count == 1 ? offer->granted.devices[0] : NULL;
	const struct gpu_api *api = device != NULL ? api_of(device) : NULL;
	if (api == NULL || text_list_has(&trial->tried, device->id) ||
	    !offer_admit(trial->rig, offer))
		return true;
	const char *const command[] = {check_format(trial->rig->run, "probe-%s", api->name), NULL};
	(void)text_list_add(&trial->tried, device->id, NULL);
	try_launch(trial->stage, device->id, command, &offer->grant);
	return true;
}

static void try_devices(struct check_run *run)
{
	struct rig *rig = rig_ready(run, NULL);
	struct trial trial = {.rig = rig,
			      .stage = rig != NULL ? stage_open(run, &rig->loop) : NULL};
	if (trial.stage != NULL)
		(void)offers_each(rig, try_offer, &trial);
	text_list_free(&trial.tried);
}

static bool has(const cJSON *predictions, bool api)
{
	json_each (prediction, predictions) {
		if ((view_string(prediction, "/api")[0] != '\0') == api)
			return true;
	}
	return false;
}

/* The launches of the run, of the kind that a row is about (`api`: those that work with one) at least one,
 * where that can be made. NULL: recorded. Caller frees. */
static cJSON *launches(struct check_run *run, bool api)
{
	struct facts facts CLEANUP_FACTS = {0};
	struct error err = {0};
	int rc = facts_read(check_context(run)->run_directory, &facts, &err);
	if (!check_works(run, rc, NULL, &err))
		return NULL;
	if (facts.untold[0] != '\0') {
		check_unsupported(run, "nothing is predicted: %s", facts.untold);
		return NULL;
	}
	if (facts.unread[0] != '\0')
		check_note(run, "the image's layers were not read: %s", facts.unread);
	cJSON *all = predictions_read(run);
	if (all == NULL || has(all, api))
		return all;
	cJSON_Delete(all);
	(api ? try_devices : try_bare)(run);
	return predictions_read(run);
}

/* Which rules a row is about, and whether launches with an API tell of them. */
struct subject {
	const char *const *rules;
	bool api;
	const char *none; /* why the row does not apply where no rule found anything */
};

struct judgement {
	struct check_run *run;
	const struct subject *subject;
	struct tally tally;
	size_t open;
	size_t left_to_image; /* findings */
};

static void tell_left_to_image(struct judgement *judgement, const cJSON *prediction,
			       const cJSON *finding)
{
	if (judgement->left_to_image++ == 0)
		check_unsupported(judgement->run, "%s: %s", view_string(prediction, "/program"),
				  view_string(finding, "/reason"));
}

static void judge_finding(struct judgement *judgement, const cJSON *prediction,
			  const cJSON *finding)
{
	const char *verdict = view_string(finding, "/verdict");
	const char *outcome = view_string(prediction, "/outcome");
	const char *rule = view_string(finding, "/rule");
	bool refused = text_equal(verdict, compat_verdict_name(COMPAT_CANNOT_WORK));
	if (judgement->subject->rules[text_position(judgement->subject->rules, rule)] == NULL)
		return;
	if (text_equal(rule, COMPAT_IMAGE_DRIVER))
		tell_left_to_image(judgement, prediction, finding);
	else if (refused || text_equal(outcome, "worked"))
		tally_add(&judgement->tally, text_equal(outcome, "worked"), "%s: %s: %s",
			  view_string(prediction, "/program"), rule,
			  view_string(finding, "/reason"));
	else if (!text_equal(outcome, "stopped") && judgement->open++ < NOTES_MAX)
		check_note(judgement->run, "%s (%s): %s: %s: %s",
			   view_string(prediction, "/program"), outcome, rule,
			   view_string(finding, "/reason"), view_string(prediction, "/told"));
}

/* A body: what the row's rules found, and that such launches work. */
static void judge_rules(struct check_run *run)
{
	struct judgement judgement = {
		.run = run,
		.subject = check_row(run)->param,
		.tally = TALLY_OF(run, "launches", "can work, and do"),
	};
	cJSON *all CLEANUP_JSON = launches(run, judgement.subject->api);
	json_each (prediction, all) {
		json_each (finding, json_pointer(prediction, "/findings"))
			judge_finding(&judgement, prediction, finding);
	}
	tally_end(&judgement.tally);
	if (all != NULL && judgement.tally.count == 0 && judgement.open != 0)
		check_unsupported(run, "no launch that the rules are about worked");
	else if (all != NULL && judgement.tally.count == 0 && judgement.left_to_image == 0)
		check_not_applicable(run, "%s", judgement.subject->none);
}

/* A launch that was not made, or of which a rule could not tell, decides nothing. */
static void tell_open(struct check_run *run, const cJSON *prediction, size_t *told)
{
	if (text_equal(view_string(prediction, "/outcome"), "not-launched"))
		check_unsupported(
			run, "%s cannot work and was not launched: %s: %s (--launch-anyway)",
			view_string(prediction, "/program"), view_string(prediction, "/rule"),
			view_string(prediction, "/reason"));
	else if (!text_equal(view_string(prediction, "/outcome"), "stopped") &&
		 (*told)++ < NOTES_MAX)
		check_note(run, "%s %s, of which the rules tell nothing: %s",
			   view_string(prediction, "/program"), view_string(prediction, "/outcome"),
			   view_string(prediction, "/told"));
}

static void predicted(struct check_run *run)
{
	struct tally tally = TALLY_OF(run, "launches", "as the rules say");
	cJSON *all CLEANUP_JSON = launches(run, false);
	size_t told = 0;
	json_each (prediction, all) {
		const cJSON *agrees = json_pointer(prediction, "/agrees");
		const char *words = view_string(prediction, "/told");
		if (cJSON_IsBool(agrees))
			tally_add(&tally, cJSON_IsTrue(agrees), "%s: %s said %s (%s); it %s%s%s",
				  view_string(prediction, "/program"),
				  view_string(prediction, "/rule"),
				  view_string(prediction, "/verdict"),
				  view_string(prediction, "/reason"),
				  view_string(prediction, "/outcome"), words[0] != '\0' ? ": " : "",
				  words);
		else
			tell_open(run, prediction, &told);
	}
	tally_end(&tally);
	if (all != NULL && tally.count == 0)
		check_unsupported(run, "of no launch the rules told how it would end");
}

/* Paths that probe-visibility looks for, and no driver does. */
#define DENIED_PATH  "/dev/mali-gpucert-denied"
#define GRANTED_PATH "/dev/mali-gpucert-granted"

/* Has the container the same node by another path? Then it is the runtime's to give. */
static bool is_everybodys(const struct probe *probe, const struct node_file *file)
{
	const struct container_view *view = probe_view(probe);
	for (size_t i = 0; view != NULL && i < view->node_count; i++) {
		const struct container_node *node = &view->nodes[i];
		if (node->block == (file->kind == NODE_FILE_BLOCK) && node->major == file->major &&
		    node->minor == file->minor && !text_equal(node->path, DENIED_PATH) &&
		    !text_equal(node->path, GRANTED_PATH))
			return true;
	}
	return false;
}

/* Launches a container that is given the node, or that finds it among its files alone. *outcome is what
 * opening it gave. False: it says nothing of this node, or recorded. */
static bool open_node(struct stage *stage, struct check_run *run, const char *path, bool given,
		      const char **outcome)
{
	const struct grant_entry entry = {.container_path = given ? GRANTED_PATH : DENIED_PATH,
					  .host_path = path,
					  .permissions = "rw"};
	struct grant grant CLEANUP_GRANT = {0};
	struct node_file file = {0};
	struct error err = {0};
	const cJSON *document = NULL;
	int rc = grant_add(&grant, given ? GRANT_DEVICE : GRANT_MOUNT, &entry, &err);
	if (!check_works(run, rc, NULL, &err) || !node_file_identify(path, &file))
		return false;
	struct probe *probe = stage_start_opening(stage, given ? "given" : "denied",
						  entry.container_path, &grant);
	bool everybodys = probe != NULL && is_everybodys(probe, &file);
	if (probe == NULL || stage_end(stage, probe, everybodys, &document) == NULL || everybodys)
		return false;
	*outcome = "(not told)";
	json_each (node, json_pointer(document, "/nodes")) {
		if (text_equal(view_string(node, "/path"), entry.container_path))
			*outcome = view_string(node, "/open/readWrite");
	}
	return true;
}

/* A node of the host that a container can open when it is given it; nodes of GPUs first. False: none. */
static bool try_node(struct stage *stage, struct check_run *run, const char *path)
{
	const char *outcome = "";
	if (!file_exists(path) || !open_node(stage, run, path, true, &outcome) ||
	    !text_equal(outcome, "ok") || !open_node(stage, run, path, false, &outcome))
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
	struct stage *stage = stage_open(run, NULL);
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

static const char *const platform_rules[] = {"platform.os", "platform.architecture",
					     "windows.build", NULL};
static const char *const glibc_rules[] = {"linux.driver-glibc", NULL};
static const char *const library_rules[] = {"linux.missing-libraries", "linux.driver-library",
					    COMPAT_IMAGE_DRIVER, NULL};
static const struct subject platform = {platform_rules, false, "no rule tells of the platform"};
static const struct subject glibc = {glibc_rules, true,
				     "no container is given a driver by files that can be read"};
static const struct subject libraries = {
	library_rules, true,
	"no rule tells of the libraries of these APIs, or the layers were not "
	"read"};

static const char *const tags_image[] = {"container", "image", NULL};

#define IMAGE(name, ...) CHECK("image." name, __VA_ARGS__, .timeout_s = 180, .tags = tags_image)

const struct check image_checks[] = {
	IMAGE("architecture", IMG_01, CRITICAL, 1, judge_rules,
	      .title = "The image is for this node's system, build and architecture",
	      .advice = "Take the image that is made for the node; the reason names both. 'gpucert "
			"image check' says the same before anything is started.",
	      .needs = {.containers = true}, .param = &platform),
	IMAGE("driver-glibc", IMG_02, CRITICAL, 1, judge_rules,
	      .title = "The image's C library loads the driver files it is given",
	      .advice = "Build the image on a newer distribution with glibc, or put the driver's "
			"user-land into it.",
	      .needs = {.os = "linux", .devices = 1, .containers = true},
	      .stands_on = "allocate.one-response", .param = &glibc),
	IMAGE("missing-library", IMG_03, CRITICAL, 1, judge_rules,
	      .title = "Programs and APIs find the libraries that they need",
	      .advice = "Put the library that the reason names into the image (a loader such as "
			"libvulkan.so.1), or let the plugin give the driver's.",
	      .needs = {.os = "linux", .devices = 1, .containers = true},
	      .stands_on = "allocate.one-response", .param = &libraries),
	IMAGE("denied-device", IMG_04, CRITICAL, 1, denied_device,
	      .title = "A device node that is not given cannot be opened",
	      .advice =
		      "The runtime does not confine devices: look at its device cgroup rules, and at "
		      "its base specification.",
	      .needs = {.os = "linux", .live_node = true, .containers = true}),
	IMAGE("prediction", IMG_05, HIGH, 1, predicted,
	      .title = "The run's launches end as the rules of images predict",
	      .advice = "The rule that the reason names is wrong for this node: report it with "
			"report.json. Until then 'gpucert image check' is not to be believed in "
			"this.",
	      .needs = {.containers = true}),
	{.id = NULL},
};
