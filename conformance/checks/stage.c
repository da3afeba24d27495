/* SPDX-License-Identifier: MIT */
#include "conformance/checks/stage.h"

#include "base/clock.h"
#include "base/memory.h"
#include "conformance/checks/authenticity.h"
#include "conformance/checks/every_container.h"
#include "conformance/checks/node_cdi.h"
#include "conformance/checks/prediction.h"
#include "containers/offers.h"
#include "containers/wine/translation.h"
#include "rpc/loop.h"

#include <string.h>

enum { PROBE_TIMEOUT_MS = 90000, STAGE_DRAIN_MS = 5000 };

struct probe {
	struct probe *next;
	struct launch *launch;
	struct document_launch identity;
	struct container_view view; /* pid 0: the container was not inspected */
	struct prediction prediction;
	const char *opens; /* a device node in the container; NULL: none that is known */
	cJSON *document;
	const char *label;
	bool early;  /* it ended before it was held */
	bool plants; /* nodes are made for it */
	bool bare;   /* it has no grant */
};

struct stage {
	struct check_run *run;
	const struct context *context;
	uv_loop_t own_loop;
	uv_loop_t *loop;
	struct cri *cri;
	struct launcher *launcher;
	struct wine_node wine; /* directory NULL: no Wine node */
	struct facts facts;    /* with `unknown`, nothing is predicted */
	struct probe *probes;
	const char *handler; /* NULL: the runtime's own */
	size_t count;	     /* launches so far, for unique names of containers */
};

static void close_stage(void *argument)
{
	struct stage *stage = argument;
	struct error err = {0};
	while (stage->probes != NULL) {
		struct probe *probe = stage->probes;
		stage->probes = probe->next;
		launch_free(probe->launch);
		if (OFFERS_INSPECTION)
			container_view_free(&probe->view);
		if (OFFERS_PREDICTIONS)
			prediction_free(&probe->prediction);
		cJSON_Delete(probe->document);
		free(probe);
	}
	launcher_free(stage->launcher);
	cri_close(stage->cri);
	if (OFFERS_PREDICTIONS)
		facts_free(&stage->facts);
	if (OFFERS_WINE_NODE)
		wine_node_free(&stage->wine);
	if (stage->loop == &stage->own_loop &&
	    loop_drain(&stage->own_loop, STAGE_DRAIN_MS, &err) < 0)
		check_note(stage->run, "clean-up: %s", err.text);
	free(stage);
}

/* The time of launching and waiting, split into the runtime's part and the probe's. Spans do not
 * overlap, so probes that run at the same time are counted once. */
struct span {
	uint64_t start_ns;
	uint64_t cri_ms;
};

static uint64_t cri_ms_so_far(const struct stage *stage)
{
	return stage->cri != NULL ? cri_time_ms(stage->cri) : 0;
}

static struct span span_begin(const struct stage *stage)
{
	return (struct span){clock_monotonic_ns(), cri_ms_so_far(stage)};
}

static void span_end(struct stage *stage, const struct span *span)
{
	uint64_t whole_ns = clock_monotonic_ns() - span->start_ns;
	uint64_t cri_ns = (cri_ms_so_far(stage) - span->cri_ms) * 1000000;
	cri_ns = cri_ns < whole_ns ? cri_ns : whole_ns;
	check_add_time(stage->run, REPORT_PHASE_CRI, cri_ns);
	check_add_time(stage->run, REPORT_PHASE_PROBE, whole_ns - cri_ns);
}

struct stage *stage_open(struct check_run *run, uv_loop_t *loop, size_t handler)
{
	struct stage *stage = memory_allocate(1, sizeof(*stage));
	const struct context *context = check_context(run);
	struct error err = {0};
	if (loop == NULL && !check_works(run, loop_open(&stage->own_loop, &err), NULL, &err)) {
		free(stage);
		return NULL;
	}
	stage->run = run;
	stage->context = context;
	stage->handler = context_handler(context, handler);
	stage->loop = loop != NULL ? loop : &stage->own_loop;
	check_defer(run, close_stage, stage);
	int rc = OFFERS_PREDICTIONS ? facts_read(context->run_directory, &stage->facts, &err) : 0;
	if (!check_works(run, rc, NULL, &err))
		return NULL;

	if (strcmp(context->launcher, "process") == 0) {
		stage->launcher = launcher_process_new(stage->loop);
		return stage;
	}
	if (OFFERS_WINE_NODE && context->wine_directory != NULL)
		rc = wine_node_open(context->wine_directory, &stage->wine, &err);
	if (rc == 0)
		rc = cri_open(stage->loop, context->cri_address, &stage->cri, &err);
	const struct launcher_containerd_options options = {
		.cri = stage->cri,
		.image = context->probe_image,
		.log_directory = check_path(run, "logs"),
		.cgroup_parent = context->cgroup_parent,
		.system = launch_host,
		.runtime_handler = stage->handler,
		.run_id = context->run_id,
		.check_id = check_row(run)->id,
	};
	if (rc == 0)
		rc = launcher_containerd_new(&options, &stage->launcher, &err);
	return check_works(run, rc, "container runtime", &err) ? stage : NULL;
}

bool stage_holds_probes(const struct stage *stage)
{
	return stage->cri != NULL && stage->wine.directory == NULL && OFFERS_INSPECTION;
}

/* Waits until the probe is held, judges its container, and lets the probe continue if it is the image's own.
 * True also for a probe that ended before it was held, which stage_finish() judges. False: recorded. */
static bool release_probe(struct stage *stage, struct probe *probe, const struct grant *grant)
{
	struct error err = {0};
	int64_t pid = 0;
	struct span span = span_begin(stage);
	int rc = launch_wait_held(probe->launch, &pid, &err);
	span_end(stage, &span);
	probe->early = rc == 0 && pid == 0;
	if (rc == ERROR_UNSUPPORTED)
		check_unsupported(stage->run,
				  "%s: that the image's own probe runs is not proven: %s",
				  probe->label, err.text);
	else if (!check_works(stage->run, rc, probe->label, &err))
		return false;

	bool own = pid == 0 || authenticity_expect(stage->run, probe->label, probe->identity.probe,
						   grant, pid, &probe->view);
	/* Every container is judged, except one that the harness itself gives a node to open. */
	if (OFFERS_INSPECTION && probe->view.pid != 0 && probe->opens == NULL)
		every_container_judge(stage->run, probe->label, stage->handler,
				      probe->bare ? NULL : grant, &probe->view);
	if (!own)
		return false;
	if (OFFERS_INSPECTION && probe->view.pid != 0 && probe->plants) {
		rc = container_plant_nodes(&probe->view, &err);
		if (!check_works(stage->run, rc, probe->label, &err))
			return false;
	}
	const char *line = check_format(stage->run, "%s %lu", probe->identity.nonce,
					(unsigned long)probe->identity.seed);
	rc = launch_release(probe->launch, line, &err);
	return check_works(stage->run, rc, probe->label, &err);
}

/* False: recorded, with the rule that predicts failure. */
static bool may_launch(struct stage *stage, struct probe *probe, const struct grant *grant)
{
	struct prediction *prediction = &probe->prediction;
	const struct check *check = check_row(stage->run);
	if (!OFFERS_PREDICTIONS || stage->facts.unknown[0] != '\0')
		return true;
	prediction_make(stage->run, &stage->facts, probe->identity.probe, probe->opens, grant,
			prediction);
	if (prediction->verdict != COMPAT_CANNOT_WORK || stage->context->launch_anyway ||
	    probe->opens != NULL)
		return true;

	prediction_record(stage->run, prediction, PREDICTION_NOT_LAUNCHED, "");
	const char *why = check_format(stage->run, "%s: %s", prediction->worst->rule,
				       prediction->worst->reason);
	bool must_work = check->needs.api != NULL || check->requirement == CHECK_ENV_02;
	if (must_work && !text_equal(prediction->worst->rule, COMPAT_IMAGE_DRIVER))
		(void)check_expect(stage->run, false, probe->label, "can work", "%s", why);
	else
		check_unsupported(stage->run, "%s: cannot work: %s (--launch-anyway tries it)",
				  probe->label, why);
	return false;
}

/* False: recorded. */
static bool start_probe(struct stage *stage, struct probe *probe, const struct launch_spec *spec)
{
	/* The edits of CDI devices are judged as if they were in the answer. */
	struct grant edited CLEANUP_GRANT = {0};
	const struct grant *applied = &spec->grant;
	struct error err = {0};
	if (grant_names_cdi(&spec->grant)) {
		if (!check_works(stage->run,
				 node_cdi_apply(stage->context, &spec->grant, &edited, &err),
				 probe->label, &err))
			return false;
		applied = &edited;
	}
	if (!may_launch(stage, probe, applied) ||
	    !authenticity_expect_answer(stage->run, probe->label, applied))
		return false;

	struct span span = span_begin(stage);
	bool refused = false;
	int rc = 0;
	if (OFFERS_WINE_NODE && stage->wine.directory != NULL) {
		/* A grant that cannot be translated could not be applied on Windows either: the
		 * plugin's failure. */
		struct wine_translation translation CLEANUP_WINE_TRANSLATION = {0};
		rc = wine_translate(&stage->wine, spec, &translation, &err);
		refused = rc == ERROR_ARGUMENT || rc == ERROR_NOT_FOUND;
		if (rc == 0)
			rc = launch_start(stage->launcher, &translation.spec, &probe->launch, &err);
	} else {
		rc = launch_start(stage->launcher, spec, &probe->launch, &err);
	}
	span_end(stage, &span);
	if (refused)
		return check_expect(stage->run, false, probe->label, "can be applied", "%s",
				    err.text);
	if (!check_works(stage->run, rc, probe->label, &err))
		return false;
	return !OFFERS_INSPECTION || !spec->hold || release_probe(stage, probe, applied);
}

static struct probe *start(struct stage *stage, const char *label, const char *const *command,
			   const struct grant *grant, bool plants, const char *opens)
{
	struct probe *probe = memory_allocate(1, sizeof(*probe));
	probe->label = check_format(stage->run, "%s", label);
	probe->plants = plants;
	probe->bare = grant == NULL;
	probe->opens = opens;
	probe->next = stage->probes;
	stage->probes = probe;

	struct launch_spec spec = {
		.name = check_format(stage->run, "%s-%zu", command[0], stage->count++),
		.hold = stage_holds_probes(stage),
		.timeout_ms = context_limit_ms(stage->context, PROBE_TIMEOUT_MS),
	};
	struct error err = {0};
	if (!check_works(stage->run, document_new_launch(command[0], &probe->identity, &err), label,
			 &err))
		return NULL;

	/* Further words bind the document to this launch. */
	struct text_list words CLEANUP_TEXT_LIST = {0};
	for (const char *const *word = command; *word != NULL; word++)
		text_list_add(&words, *word);
	text_list_add(&words, spec.hold ? "--launch" : "--nonce");
	text_list_add(&words, spec.hold ? LAUNCH_HOLD_PATH : probe->identity.nonce);
	if (!spec.hold && strcmp(command[0], "probe-visibility") != 0)
		text_list_addf(&words, "--seed=%lu", (unsigned long)probe->identity.seed);
	spec.command = (const char *const *)words.items;
	if (grant != NULL)
		spec.grant = *grant;
	return start_probe(stage, probe, &spec) ? probe : NULL;
}

/* Waits for its end, or with `kill` ends it. NULL: recorded. */
static const struct launch_result *wait_end(struct stage *stage, struct probe *probe, bool kill)
{
	struct error err = {0};
	struct span span = span_begin(stage);
	int rc = kill ? launch_stop(probe->launch, &err) : launch_wait(probe->launch, &err);
	span_end(stage, &span);
	if (!check_works(stage->run, rc, probe->label, &err))
		return NULL;
	const struct launch_result *result = launch_result(probe->launch);
	if (result->err.size != 0)
		check_evidence_text(stage->run,
				    check_format(stage->run, "%s.stderr.txt", probe->label),
				    text_string(&result->err), result->err.size);
	text_each (note, &result->notes)
		check_note(stage->run, "%s: %s", probe->label, note);
	return result;
}

/* Containers with a grant are compared with one that has none, which is launched first. */
static void launch_bare(struct stage *stage)
{
	static const char *const command[] = {"probe-visibility", NULL};
	if (!stage_holds_probes(stage) || every_container_has_bare(stage->run, stage->handler))
		return;
	struct probe *probe = start(stage, "bare", command, NULL, false, NULL);
	if (probe != NULL)
		(void)wait_end(stage, probe, true);
}

struct probe *stage_start(struct stage *stage, const char *label, const char *const *command,
			  const struct grant *grant)
{
	if (grant != NULL)
		launch_bare(stage);
	return start(stage, label, command, grant, false, NULL);
}

struct probe *stage_start_planted(struct stage *stage, const char *label,
				  const char *const *command, const struct grant *grant)
{
	if (grant != NULL)
		launch_bare(stage);
	return start(stage, label, command, grant, true, NULL);
}

struct probe *stage_start_opening(struct stage *stage, const char *label, const char *node,
				  const struct grant *grant)
{
	static const char *const command[] = {"probe-visibility", NULL};
	return start(stage, label, command, grant, false, node);
}

const struct container_view *probe_view(const struct probe *probe)
{
	return probe->view.pid != 0 ? &probe->view : NULL;
}

/* The document of a probe that ended well; NULL: recorded. */
static const cJSON *finish(struct stage *stage, struct probe *probe,
			   const struct launch_result *result)
{
	struct check_run *run = stage->run;
	char description[512] = "";
	launch_describe(result, description, sizeof(description));
	/* A runtime that cannot start a container proves nothing about the plugin; only the check
	 * about containers fails. */
	if (result->end == LAUNCH_LOST ||
	    (result->end == LAUNCH_NO_SANDBOX && check_row(run)->requirement != CHECK_ENV_02)) {
		check_broken(run, "%s: %s", probe->label, description);
		return NULL;
	}
	if (result->end == LAUNCH_IGNORED) {
		check_unsupported(run, "%s: %s", probe->label, result->reason);
		return NULL;
	}
	if (!check_expect(run, result->end == LAUNCH_EXITED && result->code == 0, probe->label,
			  "exited with code 0", "%s", description))
		return NULL;
	if (probe->early) {
		(void)check_expect(run, false, probe->label, "waits for its launch",
				   "ended before it could be inspected");
		return NULL;
	}

	struct error err = {0};
	int rc = json_parse(text_string(&result->out), result->out.size, &probe->document, &err);
	if (!check_expect_ok(run, rc, "the probe's document", &err)) {
		check_evidence_text(run, "probe-stdout.txt", text_string(&result->out),
				    result->out.size);
		return NULL;
	}
	check_evidence_json(run, check_format(run, "%s.json", probe->label), probe->document);
	if (!document_expect_launch(run, probe->label, probe->document, &probe->identity))
		return NULL;
	return probe->document;
}

const cJSON *stage_finish(struct stage *stage, struct probe *probe)
{
	const struct launch_result *result = wait_end(stage, probe, false);
	if (result == NULL)
		return NULL;
	const cJSON *document = finish(stage, probe, result);
	if (OFFERS_PREDICTIONS)
		prediction_record_end(stage->run, &probe->prediction, result, document);
	return document;
}

const cJSON *stage_run(struct stage *stage, const char *label, const char *const *command)
{
	struct probe *probe = stage_start(stage, label, command, NULL);
	return probe != NULL ? stage_finish(stage, probe) : NULL;
}

bool stage_can_pause(struct stage *stage)
{
	if (!stage_holds_probes(stage))
		check_unsupported(stage->run, "here no probe can be held in the midst of its work; "
					      "in Linux containers one can");
	return stage_holds_probes(stage);
}

/* *pid stays 0 if it ended earlier. False: recorded. */
static bool wait_paused(struct stage *stage, struct probe *probe, int64_t *pid)
{
	struct span span = span_begin(stage);
	struct error err = {0};
	int rc = probe->early ? 0 : launch_wait_held(probe->launch, pid, &err);
	span_end(stage, &span);
	return rc == ERROR_UNSUPPORTED || check_works(stage->run, rc, probe->label, &err);
}

bool stage_wait_paused(struct stage *stage, struct probe *probe)
{
	int64_t pid = 0;
	return wait_paused(stage, probe, &pid) && pid != 0;
}

void stage_resume(struct stage *stage, struct probe *probe)
{
	struct error err = {0};
	(void)check_works(stage->run, launch_release(probe->launch, "go on", &err), probe->label,
			  &err);
}

const cJSON *stage_run_working(struct stage *stage, const char *label, const char *const *command,
			       const struct grant *grant, struct container_view *view)
{
	const char *words[16] = {NULL};
	size_t count = 0;
	for (; count < ARRAY_SIZE(words) - 3 && command[count] != NULL; count++)
		words[count] = command[count];
	if (stage_holds_probes(stage)) {
		words[count++] = "--pause-after";
		words[count] = LAUNCH_PAUSE_PATH;
	}
	struct probe *probe = stage_start(stage, label, words, grant);
	if (probe == NULL)
		return NULL;

	/* A process that has ended, or that is hidden from here, is not inspected. */
	int64_t pid = 0;
	if (OFFERS_INSPECTION && stage_holds_probes(stage) && wait_paused(stage, probe, &pid) &&
	    pid != 0) {
		struct error err = {0};
		int rc = container_inspect_working(pid, check_digests(stage->run), view, &err);
		if (rc < 0 && rc != ERROR_NOT_FOUND)
			check_unsupported(stage->run, "%s: what ran is not known: %s", probe->label,
					  err.text);
		stage_resume(stage, probe);
	}
	return stage_finish(stage, probe);
}

const struct launch_result *stage_end(struct stage *stage, struct probe *probe, bool kill,
				      const cJSON **document)
{
	const struct launch_result *result = wait_end(stage, probe, kill);
	*document = NULL;
	if (result == NULL)
		return NULL;
	if (result->end == LAUNCH_LOST) {
		check_broken(stage->run, "%s: %s", probe->label, result->reason);
		return NULL;
	}
	if (result->end == LAUNCH_EXITED && result->code == 0 &&
	    json_parse(text_string(&result->out), result->out.size, &probe->document, NULL) == 0) {
		check_evidence_json(stage->run, check_format(stage->run, "%s.json", probe->label),
				    probe->document);
		*document = probe->document;
	}
	if (OFFERS_PREDICTIONS)
		prediction_record_end(stage->run, &probe->prediction, result, *document);
	return result;
}

const struct launch_result *probe_result(const struct probe *probe)
{
	return launch_result(probe->launch);
}
