/* SPDX-License-Identifier: MIT */
#include "conformance/checks/stage.h"

#include "base/clock.h"
#include "base/path.h"
#include "conformance/checks/authenticity.h"
#include "conformance/checks/every_container.h"
#include "conformance/checks/node_cdi.h"
#include "conformance/checks/prediction.h"
#include "conformance/runner/context.h"
#include "containers/offers.h"
#include "containers/wine/translation.h"
#include "rpc/loop.h"

#include <string.h>

enum { PROBE_TIMEOUT_MS = 90000, STAGE_DRAIN_MS = 5000 };

struct probe {
	struct probe *next;
	struct launch *launch;
	struct document_launch identity;
	struct container_view view; /* pid 0: the container was not looked at */
	struct prediction prediction;
	const char *opens; /* a device node in the container; NULL: none that is known */
	cJSON *document;
	const char *label;
	bool early;  /* it ended before it was held */
	bool plants; /* nodes are made for it */
	bool bare;   /* it is granted nothing */
};

struct stage {
	struct check_run *run;
	const struct context *context;
	uv_loop_t own_loop;
	uv_loop_t *loop;
	struct cri *cri;
	struct launcher *launcher;
	struct wine_node wine; /* directory NULL: no Wine node */
	struct facts facts;    /* untold: nothing is predicted */
	struct probe *probes;
	const char *handler; /* NULL: the runtime's own */
	size_t count;	     /* of launches so far: tells the names of containers apart */
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
		prediction_free(&probe->prediction);
		cJSON_Delete(probe->document);
		free(probe);
	}
	launcher_free(stage->launcher);
	cri_close(stage->cri);
	facts_free(&stage->facts);
	if (OFFERS_WINE_NODE)
		wine_node_free(&stage->wine);
	if (stage->loop == &stage->own_loop &&
	    loop_drain(&stage->own_loop, STAGE_DRAIN_MS, &err) < 0)
		check_note(stage->run, "clean-up: %s", err.text);
	free(stage);
}

/* Launching and waiting, split into the runtime's part and the probe's. Spans follow one another,
 * so what runs side by side is counted once. */
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

static int make_launcher(struct stage *stage, size_t handler, struct error *err)
{
	const struct context *context = stage->context;
	int rc = 0;
	if (strcmp(context->launcher, "process") == 0)
		return launcher_process_new(stage->loop, NULL, &stage->launcher, err);
	if (OFFERS_WINE_NODE && context->wine_directory != NULL)
		rc = wine_node_open(context->wine_directory, &stage->wine, err);
	if (rc == 0)
		rc = cri_open(stage->loop, context->cri_address, &stage->cri, err);
	if (rc != 0)
		return rc;
	return launcher_containerd_new(
		&(struct launcher_containerd_options){
			.cri = stage->cri,
			.image = context->probe_image,
			.log_directory = check_path(stage->run, "logs"),
			.cgroup_parent = context->cgroup_parent,
			.system = launch_host,
			.runtime_handler = context_handler(context, handler),
			.run_id = context->run_id,
			.check_id = check_row(stage->run)->id,
		},
		&stage->launcher, err);
}

struct stage *stage_open(struct check_run *run, uv_loop_t *loop)
{
	return stage_open_handler(run, loop, 0);
}

struct stage *stage_open_handler(struct check_run *run, uv_loop_t *loop, size_t handler)
{
	struct stage *stage = calloc(1, sizeof(*stage));
	struct error err = {0};
	int rc = stage != NULL ? 0 : error_memory(&err);
	if (rc == 0 && loop == NULL)
		rc = loop_open(&stage->own_loop, &err);
	if (!check_works(run, rc, NULL, &err)) {
		free(stage);
		return NULL;
	}
	stage->run = run;
	stage->context = check_context(run);
	stage->handler = context_handler(stage->context, handler);
	stage->loop = loop != NULL ? loop : &stage->own_loop;
	check_defer(run, close_stage, stage);
	rc = facts_read(stage->context->run_directory, &stage->facts, &err);
	if (!check_works(run, rc, NULL, &err))
		return NULL;
	return check_works(run, make_launcher(stage, handler, &err), "container runtime", &err)
		       ? stage
		       : NULL;
}

/* On the Wine node, as the Linux container that plays the Windows one. What cannot be translated
 * could not be applied on Windows either: the plugin's failure. */
static int launch_translated(struct stage *stage, const struct launch_spec *spec,
			     struct launch **out, bool *refused, struct error *err)
{
	struct wine_translation translation CLEANUP_WINE_TRANSLATION = {0};
	int rc = wine_translate(&stage->wine, spec, &translation, err);
	*refused = rc == ERROR_ARGUMENT || rc == ERROR_NOT_FOUND;
	return rc == 0 ? launch_start(stage->launcher, &translation.spec, out, err) : rc;
}

/* A Linux container with the run's own kind of probes can be looked at. */
static bool holds_probes(const struct stage *stage)
{
	return stage->cri != NULL && stage->wine.directory == NULL && OFFERS_INSPECTION;
}

/* The command with the words that bind the document to this launch. */
static int make_command(const struct stage *stage, const char *const *command,
			const struct document_launch *identity, struct text_list *words,
			struct error *err)
{
	int rc = 0;
	for (const char *const *word = command; rc == 0 && *word != NULL; word++)
		rc = text_list_add(words, *word, err);
	if (rc == 0)
		rc = text_list_add(words, holds_probes(stage) ? "--launch" : "--nonce", err);
	if (rc == 0)
		rc = text_list_add(words, holds_probes(stage) ? LAUNCH_HOLD_PATH : identity->nonce,
				   err);
	return rc == 0 && !holds_probes(stage) && strcmp(command[0], "probe-visibility") != 0
		       ? text_list_addf(words, err, "--seed=%lu", (unsigned long)identity->seed)
		       : rc;
}

/* Waits until the probe is held. *pid 0: it ended before, which launch_wait() tells, or its process
 * is not known, which is recorded as unsupported. False: recorded. */
static bool wait_held(struct stage *stage, struct probe *probe, int64_t *pid)
{
	struct span span = span_begin(stage);
	struct error err = {0};
	int rc = launch_wait_held(probe->launch, pid, &err);
	span_end(stage, &span);
	probe->early = rc == 0 && *pid == 0;
	if (rc != ERROR_UNSUPPORTED)
		return check_works(stage->run, rc, probe->label, &err);
	check_unsupported(stage->run, "%s: that the image's own probe runs is not proven: %s",
			  probe->label, err.text);
	return true;
}

/* False: recorded. */
static bool plant(struct stage *stage, struct probe *probe)
{
	struct error err = {0};
	int rc = OFFERS_INSPECTION && probe->plants && probe->view.pid != 0
			 ? container_plant_nodes(&probe->view, &err)
			 : 0;
	return check_works(stage->run, rc, probe->label, &err);
}

/* Whatever the check is about. What the harness itself gives to see whether it can be opened is no answer. */
static void judge_container(struct stage *stage, const struct probe *probe,
			    const struct grant *grant)
{
	if (OFFERS_INSPECTION && probe->view.pid != 0 && probe->opens == NULL)
		every_container_judge(stage->run, probe->label, stage->handler,
				      probe->bare ? NULL : grant, &probe->view);
}

/* Lets a probe go on that is what it should be; false: recorded. */
static bool let_go(struct stage *stage, struct probe *probe, const struct grant *grant)
{
	const char *line = check_format(stage->run, "%s %lu", probe->identity.nonce,
					(unsigned long)probe->identity.seed);
	struct error err = {0};
	int64_t pid = 0;
	if (!wait_held(stage, probe, &pid))
		return false;
	bool own = pid == 0 || authenticity_expect(stage->run, probe->label, probe->identity.probe,
						   grant, pid, &probe->view);
	judge_container(stage, probe, grant);
	return own && plant(stage, probe) &&
	       check_works(stage->run, launch_release(probe->launch, line, &err), probe->label,
			   &err);
}

/* False: recorded. */
static bool launch_probe(struct stage *stage, struct probe *probe, const struct launch_spec *spec)
{
	struct error err = {0};
	bool refused = false;
	struct span span = span_begin(stage);
	int rc = OFFERS_WINE_NODE && stage->wine.directory != NULL
			 ? launch_translated(stage, spec, &probe->launch, &refused, &err)
			 : launch_start(stage->launcher, spec, &probe->launch, &err);
	span_end(stage, &span);
	return refused ? check_expect(stage->run, false, probe->label, "can be applied", "%s",
				      err.text)
		       : check_works(stage->run, rc, probe->label, &err);
}

/* Must it work all the same? */
static bool is_claimed(const struct check *check)
{
	return check->needs.api != NULL || check->requirement == CHECK_ENV_02;
}

/* Records what keeps a launch from being made. */
static bool may_launch(struct stage *stage, struct probe *probe, const struct grant *grant)
{
	struct prediction *prediction = &probe->prediction;
	if (stage->facts.untold[0] != '\0')
		return true;
	if (!prediction_make(stage->run, &stage->facts, probe->identity.probe, probe->opens, grant,
			     prediction))
		return false;
	if (prediction->verdict != COMPAT_CANNOT_WORK || stage->context->launch_anyway ||
	    probe->opens != NULL)
		return true;
	prediction_record(stage->run, prediction, PREDICTION_NOT_LAUNCHED, "");
	const char *why = check_format(stage->run, "%s: %s", prediction->worst->rule,
				       prediction->worst->reason);
	if (is_claimed(check_row(stage->run)) &&
	    !text_equal(prediction->worst->rule, COMPAT_IMAGE_DRIVER))
		(void)check_expect(stage->run, false, probe->label, "can work", "%s", why);
	else
		check_unsupported(stage->run, "%s: cannot work: %s (--launch-anyway tries it)",
				  probe->label, why);
	return false;
}

/* What the runtime makes of CDI devices is judged as if the answer had said so. False: recorded. */
static bool start_probe(struct stage *stage, struct probe *probe, const struct launch_spec *spec)
{
	struct grant edited CLEANUP_GRANT = {0};
	struct error err = {0};
	bool cdi = grant_names_cdi(&spec->grant);
	const struct grant *applied = cdi ? &edited : &spec->grant;
	int rc = cdi ? node_cdi_apply(stage->context, &spec->grant, &edited, &err) : 0;
	return check_works(stage->run, rc, probe->label, &err) &&
	       may_launch(stage, probe, applied) &&
	       authenticity_expect_answer(stage->run, probe->label, applied) &&
	       launch_probe(stage, probe, spec) &&
	       (!OFFERS_INSPECTION || !spec->hold || let_go(stage, probe, applied));
}

static struct probe *start(struct stage *stage, const char *label, const char *const *command,
			   const struct grant *grant, bool plants, const char *opens)
{
	struct probe *probe = calloc(1, sizeof(*probe));
	struct text_list words CLEANUP_TEXT_LIST = {0};
	struct launch_spec spec = {
		.name = check_format(stage->run, "%s-%zu", command[0], stage->count++),
		.hold = holds_probes(stage),
		.timeout_ms = context_limit_ms(stage->context, PROBE_TIMEOUT_MS),
	};
	struct error err = {0};
	int rc = probe != NULL ? 0 : error_memory(&err);
	if (rc == 0) {
		probe->label = check_format(stage->run, "%s", label);
		probe->plants = plants;
		probe->bare = grant == NULL;
		probe->opens = opens;
		probe->next = stage->probes;
		stage->probes = probe;
		rc = document_new_launch(command[0], &probe->identity, &err);
	}
	if (rc == 0)
		rc = make_command(stage, command, &probe->identity, &words, &err);
	if (!check_works(stage->run, rc, label, &err))
		return NULL;
	if (grant != NULL)
		spec.grant = *grant;
	spec.command = (const char *const *)words.items;
	return start_probe(stage, probe, &spec) ? probe : NULL;
}

static void keep_output(struct stage *stage, const struct probe *probe,
			const struct launch_result *result)
{
	if (result->err.size != 0)
		check_evidence_text(stage->run,
				    check_format(stage->run, "%s.stderr.txt", probe->label),
				    text_string(&result->err), result->err.size);
	for (size_t i = 0; i < result->notes.count; i++)
		check_note(stage->run, "%s: %s", probe->label, result->notes.items[i]);
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
	keep_output(stage, probe, launch_result(probe->launch));
	return launch_result(probe->launch);
}

/* The first container with a grant is compared with one that has none. */
static void know_bare(struct stage *stage)
{
	static const char *const command[] = {"probe-visibility", NULL};
	if (!holds_probes(stage) || every_container_has_bare(stage->run, stage->handler))
		return;
	struct probe *probe = start(stage, "bare", command, NULL, false, NULL);
	if (probe != NULL)
		(void)wait_end(stage, probe, true);
}

struct probe *stage_start(struct stage *stage, const char *label, const char *const *command,
			  const struct grant *grant)
{
	if (grant != NULL)
		know_bare(stage);
	return start(stage, label, command, grant, false, NULL);
}

struct probe *stage_start_planted(struct stage *stage, const char *label,
				  const char *const *command, const struct grant *grant)
{
	if (grant != NULL)
		know_bare(stage);
	return start(stage, label, command, grant, true, NULL);
}

struct probe *stage_start_opening(struct stage *stage, const char *label, const char *node,
				  const struct grant *grant)
{
	static const char *const command[] = {"probe-visibility", NULL};
	return start(stage, label, command, grant, false, node);
}

static const cJSON *read_document(struct stage *stage, struct probe *probe,
				  const struct launch_result *result)
{
	struct error err = {0};
	int rc = json_parse(text_string(&result->out), result->out.size, &probe->document, &err);
	if (!check_expect_ok(stage->run, rc, "the probe's document", &err)) {
		check_evidence_text(stage->run, "probe-stdout.txt", text_string(&result->out),
				    result->out.size);
		return NULL;
	}
	check_evidence_json(stage->run, check_format(stage->run, "%s.json", probe->label),
			    probe->document);
	return document_expect_launch(stage->run, probe->label, probe->document, &probe->identity)
		       ? probe->document
		       : NULL;
}

const struct container_view *probe_view(const struct probe *probe)
{
	return probe->view.pid != 0 ? &probe->view : NULL;
}

static const cJSON *finish(struct stage *stage, struct probe *probe,
			   const struct launch_result *result)
{
	char description[512] = "";
	launch_describe(result, description, sizeof(description));
	/* A runtime that cannot begin a container proves nothing about the plugin; it fails the check
	 * that is about it. */
	if (result->end == LAUNCH_LOST || (result->end == LAUNCH_NO_SANDBOX &&
					   check_row(stage->run)->requirement != CHECK_ENV_02)) {
		check_broken(stage->run, "%s: %s", probe->label, description);
		return NULL;
	}
	if (result->end == LAUNCH_IGNORED) {
		check_unsupported(stage->run, "%s: %s", probe->label, result->reason);
		return NULL;
	}
	if (!check_expect(stage->run, result->end == LAUNCH_EXITED && result->code == 0,
			  probe->label, "exited with code 0", "%s", description))
		return NULL;
	if (probe->early) {
		(void)check_expect(stage->run, false, probe->label, "waits for its launch",
				   "ended before it could be looked at");
		return NULL;
	}
	return read_document(stage, probe, result);
}

const cJSON *stage_finish(struct stage *stage, struct probe *probe)
{
	const struct launch_result *result = wait_end(stage, probe, false);
	const cJSON *document = result != NULL ? finish(stage, probe, result) : NULL;
	if (result != NULL)
		prediction_record_end(stage->run, &probe->prediction, result, document);
	return document;
}

const cJSON *stage_run(struct stage *stage, const char *label, const char *const *command,
		       const struct grant *grant)
{
	struct probe *probe = stage_start(stage, label, command, grant);
	return probe != NULL ? stage_finish(stage, probe) : NULL;
}

bool stage_can_pause(struct stage *stage)
{
	if (!holds_probes(stage))
		check_unsupported(stage->run, "here no probe can be held in the midst of its work; "
					      "in Linux containers one can");
	return holds_probes(stage);
}

/* *pid stays 0 when it ended before. False: recorded. */
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

/* Of a process that is gone, or cannot be seen from here, nothing is seen. */
static void inspect_working(struct stage *stage, struct probe *probe, struct container_view *view)
{
	const char *digests = check_format(stage->run, "%s/digests", stage->context->run_directory);
	struct error err = {0};
	int64_t pid = 0;
	if (!OFFERS_INSPECTION || !wait_paused(stage, probe, &pid) || pid == 0)
		return;
	int rc = container_inspect_working(pid, digests, view, &err);
	if (rc < 0 && rc != ERROR_NOT_FOUND)
		check_unsupported(stage->run, "%s: what ran is not known: %s", probe->label,
				  err.text);
	stage_resume(stage, probe);
}

const cJSON *stage_run_working(struct stage *stage, const char *label, const char *const *command,
			       const struct grant *grant, struct container_view *view)
{
	const char *words[16] = {NULL};
	size_t count = 0;
	for (; command[count] != NULL && count < ARRAY_SIZE(words) - 3; count++)
		words[count] = command[count];
	if (holds_probes(stage)) {
		words[count++] = "--pause-after";
		words[count] = LAUNCH_PAUSE_PATH;
	}
	struct probe *probe = stage_start(stage, label, words, grant);
	if (probe != NULL && holds_probes(stage))
		inspect_working(stage, probe, view);
	return probe != NULL ? stage_finish(stage, probe) : NULL;
}

const struct launch_result *stage_end(struct stage *stage, struct probe *probe, bool kill,
				      const cJSON **document)
{
	const struct launch_result *result = wait_end(stage, probe, kill);
	*document = NULL;
	if (result != NULL && result->end == LAUNCH_EXITED && result->code == 0 &&
	    json_parse(text_string(&result->out), result->out.size, &probe->document, NULL) == 0) {
		check_evidence_json(stage->run, check_format(stage->run, "%s.json", probe->label),
				    probe->document);
		*document = probe->document;
	}
	if (result != NULL)
		prediction_record_end(stage->run, &probe->prediction, result, *document);
	return result;
}

const struct launch_result *probe_result(const struct probe *probe)
{
	return launch_result(probe->launch);
}
