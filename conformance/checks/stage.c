/* SPDX-License-Identifier: MIT */
#include "conformance/checks/stage.h"

#include "base/clock.h"
#include "base/path.h"
#include "conformance/checks/authenticity.h"
#include "conformance/checks/document.h"
#include "conformance/checks/tamper.h"
#include "conformance/runner/context.h"
#include "containers/wine/translation.h"
#include "rpc/loop.h"

#include <string.h>

enum { PROBE_TIMEOUT_MS = 90000, STAGE_DRAIN_MS = 5000, TAMPERING_TOLD = 8 };

struct probe {
	struct probe *next;
	struct launch *launch;
	struct document_launch identity;
	struct container_view view; /* pid 0: the container was not looked at */
	cJSON *document;
	char *label;
	bool early; /* it ended before it was held */
};

struct stage {
	struct check_run *run;
	const struct context *context;
	uv_loop_t own_loop;
	uv_loop_t *loop;
	struct cri *cri;
	struct launcher *launcher;
	bool judges_runtime;
	struct wine_node wine; /* directory NULL: no Wine node */
	struct probe *probes;
	size_t count; /* of launches so far: tells the names of containers apart */
};

static void probe_free(struct probe *probe)
{
	launch_free(probe->launch);
	container_view_free(&probe->view);
	cJSON_Delete(probe->document);
	free(probe->label);
	free(probe);
}

static void stage_close(void *argument)
{
	struct stage *stage = argument;
	struct error err = {0};

	while (stage->probes != NULL) {
		struct probe *probe = stage->probes;

		stage->probes = probe->next;
		probe_free(probe);
	}
	launcher_free(stage->launcher);
	cri_close(stage->cri);
	wine_node_free(&stage->wine);
	if (stage->loop == &stage->own_loop &&
	    loop_drain(&stage->own_loop, STAGE_DRAIN_MS, &err) < 0)
		check_note(stage->run, "clean-up: %s", err.text);
	free(stage);
}

/* Launching and waiting, split into the runtime's part and the probe's. Spans follow one another,
 * so what runs side by side is counted once. */
struct stage_span {
	uint64_t start_ns;
	uint64_t cri_ms;
};

static uint64_t stage_cri_ms(const struct stage *stage)
{
	return stage->cri != NULL ? cri_time_ms(stage->cri) : 0;
}

static struct stage_span stage_span_begin(const struct stage *stage)
{
	return (struct stage_span){clock_monotonic_ns(), stage_cri_ms(stage)};
}

static void stage_span_end(struct stage *stage, const struct stage_span *span)
{
	uint64_t whole_ns = clock_monotonic_ns() - span->start_ns;
	uint64_t cri_ns = (stage_cri_ms(stage) - span->cri_ms) * 1000000;

	cri_ns = cri_ns < whole_ns ? cri_ns : whole_ns;
	check_add_time(stage->run, REPORT_PHASE_CRI, cri_ns);
	check_add_time(stage->run, REPORT_PHASE_PROBE, whole_ns - cri_ns);
}

static int stage_make_launcher(struct stage *stage, struct error *err)
{
	const struct context *context = stage->context;
	char *logs CLEANUP_FREE = path_join(check_directory(stage->run), "logs");
	struct launcher_containerd_options options = {
		.image = context->probe_image,
		.log_directory = logs,
		.cgroup_parent = context->cgroup_parent,
		.runtime_handler = context->runtime_handler,
		.run_id = context->run_id,
		.check_id = check_name(stage->run),
	};
	int rc = 0;

	if (strcmp(context->launcher, "process") == 0)
		return launcher_process_new(stage->loop, NULL, &stage->launcher, err);
	if (logs == NULL)
		return error_memory(err);
	if (context->wine_directory != NULL)
		rc = wine_node_open(context->wine_directory, &stage->wine, err);
	rc = rc == 0 ? cri_open(stage->loop, context->cri_address, &stage->cri, err) : rc;
	options.cri = stage->cri;
	return rc == 0 ? launcher_containerd_new(&options, &stage->launcher, err) : rc;
}

struct stage *stage_open(struct check_run *run, uv_loop_t *loop)
{
	struct stage *stage = calloc(1, sizeof(*stage));
	struct error err = {0};

	if (stage == NULL) {
		check_broken(run, "out of memory");
		return NULL;
	}
	if (loop == NULL && loop_open(&stage->own_loop, &err) < 0) {
		check_broken(run, "%s", err.text);
		free(stage);
		return NULL;
	}
	stage->run = run;
	stage->context = check_context(run);
	stage->loop = loop != NULL ? loop : &stage->own_loop;
	check_defer(run, stage_close, stage);
	if (stage_make_launcher(stage, &err) < 0) {
		check_broken(run, "container runtime: %s", err.text);
		return NULL;
	}
	return stage;
}

void stage_judges_runtime(struct stage *stage)
{
	stage->judges_runtime = true;
}

/* Records what of the answer changes the probe itself; false: then its document would prove
 * nothing. */
static bool stage_expect_untampered(struct stage *stage, const char *label,
				    const struct grant *grant)
{
	struct text_list found CLEANUP_TEXT_LIST = {0};
	char *what CLEANUP_FREE = text_format("%s: the answer", label);
	struct error err = {0};
	bool windows = strcmp(stage->context->node->system.os, "windows") == 0;
	int rc = windows ? tamper_find_windows(grant, &found, &err)
			 : tamper_find(grant, &stage->context->image, &found, &err);

	if (rc < 0 || what == NULL) {
		check_broken(stage->run, "%s: %s", label, err.text);
		return false;
	}
	for (size_t i = 0; i < found.count && i < TAMPERING_TOLD; i++)
		(void)check_expect(stage->run, false, what, "leaves the probe untouched", "%s",
				   found.items[i]);
	return found.count == 0;
}

/* On the Wine node, as the Linux container that plays the Windows one. What cannot be translated
 * could not be applied on Windows either: the plugin's failure. */
static int stage_launch(struct stage *stage, const struct launch_spec *spec, struct launch **out,
			bool *refused, struct error *err)
{
	struct wine_translation translation CLEANUP_WINE_TRANSLATION = {0};
	int rc = 0;

	if (stage->wine.directory == NULL)
		return launch_start(stage->launcher, spec, out, err);
	rc = wine_translate(&stage->wine, spec, &translation, err);
	*refused = rc == ERROR_ARGUMENT || rc == ERROR_NOT_FOUND;
	return rc == 0 ? launch_start(stage->launcher, &translation.spec, out, err) : rc;
}

/* A Linux container with the run's own kind of probes can be looked at. */
static bool stage_holds(const struct stage *stage)
{
#ifdef _WIN32
	(void)stage;
	return false;
#else
	return stage->cri != NULL && stage->wine.directory == NULL;
#endif
}

enum { IDENTITY_WORDS = 5 }; /* behind the command, the end included */

/* The command with the words that bind the document to this launch. NULL: out of memory. */
static const char **stage_command(const struct stage *stage, const char *const *command,
				  const struct document_launch *identity, char *seed, size_t size)
{
	const char **words = NULL;
	size_t count = 0;

	while (command[count] != NULL)
		count++;
	words = calloc(count + IDENTITY_WORDS, sizeof(*words));
	if (words == NULL)
		return NULL;
	memcpy(words, command, count * sizeof(*words));
	if (stage_holds(stage)) {
		words[count++] = "--launch";
		words[count++] = LAUNCH_HOLD_PATH;
		return words;
	}
	(void)snprintf(seed, size, "%lu", (unsigned long)identity->seed);
	words[count++] = "--nonce";
	words[count++] = identity->nonce;
	if (strcmp(command[0], "probe-visibility") != 0) {
		words[count++] = "--seed";
		words[count++] = seed;
	}
	return words;
}

/* Waits until the probe is held. *pid 0: it ended before, which launch_wait() tells, or its process
 * is not known, which is recorded as unsupported. False: recorded. */
static bool stage_wait_held(struct stage *stage, struct probe *probe, const char *label,
			    int64_t *pid)
{
	struct stage_span span = stage_span_begin(stage);
	struct error err = {0};
	int rc = launch_wait_held(probe->launch, pid, &err);

	stage_span_end(stage, &span);
	if (rc == ERROR_UNSUPPORTED)
		check_unsupported(stage->run,
				  "%s: that the image's own probe runs is not proven: %s", label,
				  err.text);
	else if (rc < 0)
		check_broken(stage->run, "%s: %s", label, err.text);
	probe->early = rc == 0 && *pid == 0;
	return rc == 0 || rc == ERROR_UNSUPPORTED;
}

/* Lets a probe go on that is what it should be; false: recorded. */
static bool stage_let_go(struct stage *stage, struct probe *probe, const char *label,
			 const struct launch_spec *spec)
{
	char *line CLEANUP_FREE =
		text_format("%s %lu", probe->identity.nonce, (unsigned long)probe->identity.seed);
	struct error err = {0};
	int64_t pid = 0;

	if (!stage_wait_held(stage, probe, label, &pid))
		return false;
	if (pid != 0 && !authenticity_expect(stage->run, label, probe->identity.probe, &spec->grant,
					     pid, &probe->view))
		return false;
	if (line == NULL || launch_release(probe->launch, line, &err) < 0) {
		check_broken(stage->run, "%s: %s", label, err.text);
		return false;
	}
	return true;
}

struct probe *stage_start(struct stage *stage, const char *label, const char *const *command,
			  const struct grant *grant)
{
	char *name CLEANUP_FREE = text_format("%s-%zu", command[0], stage->count);
	struct document_launch identity = {0};
	char seed[16] = "";
	const char **words CLEANUP_FREE = NULL;
	struct launch_spec spec = {
		.name = name,
		.hold = stage_holds(stage),
		.timeout_ms = context_limit_ms(stage->context, PROBE_TIMEOUT_MS),
	};
	struct probe *probe = calloc(1, sizeof(*probe));
	char *own_label CLEANUP_FREE = strdup(label);
	struct error err = {0};
	bool refused = false;
	int rc = name != NULL && probe != NULL && own_label != NULL ? 0 : error_memory(&err);

	if (grant != NULL)
		spec.grant = *grant;
	rc = rc == 0 ? document_new_launch(command[0], &identity, &err) : rc;
	if (rc == 0) {
		words = stage_command(stage, command, &identity, seed, sizeof(seed));
		rc = words != NULL ? 0 : error_memory(&err);
		spec.command = words;
	}
	if (rc == 0 && !stage_expect_untampered(stage, label, &spec.grant)) {
		free(probe);
		return NULL;
	}
	if (rc == 0) {
		struct stage_span span = stage_span_begin(stage);

		rc = stage_launch(stage, &spec, &probe->launch, &refused, &err);
		stage_span_end(stage, &span);
	}
	if (rc < 0) {
		if (refused)
			(void)check_expect(stage->run, false, label, "can be applied", "%s",
					   err.text);
		else
			check_broken(stage->run, "%s: %s", label, err.text);
		free(probe);
		return NULL;
	}
	probe->label = STEAL(own_label);
	probe->next = stage->probes;
	stage->probes = probe;
	stage->count++;
	probe->identity = identity;
	return !spec.hold || stage_let_go(stage, probe, label, &spec) ? probe : NULL;
}

static void stage_keep_output(struct stage *stage, const struct probe *probe,
			      const struct launch_result *result)
{
	char *name CLEANUP_FREE = text_format("%s.stderr.txt", probe->label);

	if (name != NULL && result->err.size != 0)
		check_evidence_text(stage->run, name, text_string(&result->err), result->err.size);
	for (size_t i = 0; i < result->notes.count; i++)
		check_note(stage->run, "%s: %s", probe->label, result->notes.items[i]);
}

static const cJSON *stage_read_document(struct stage *stage, struct probe *probe,
					const struct launch_result *result)
{
	char *name CLEANUP_FREE = text_format("%s.json", probe->label);
	struct error err = {0};
	int rc = json_parse(text_string(&result->out), result->out.size, &probe->document, &err);

	if (!check_expect_ok(stage->run, rc, "the probe's document", &err)) {
		check_evidence_text(stage->run, "probe-stdout.txt", text_string(&result->out),
				    result->out.size);
		return NULL;
	}
	if (name != NULL)
		check_evidence_json(stage->run, name, probe->document);
	return document_expect_launch(stage->run, probe->label, probe->document, &probe->identity)
		       ? probe->document
		       : NULL;
}

const struct container_view *probe_view(const struct probe *probe)
{
	return probe->view.pid != 0 ? &probe->view : NULL;
}

const cJSON *stage_finish(struct stage *stage, struct probe *probe)
{
	const struct launch_result *result = NULL;
	char description[512] = "";
	struct error err = {0};
	struct stage_span span = stage_span_begin(stage);
	int rc = launch_wait(probe->launch, &err);

	stage_span_end(stage, &span);
	if (rc < 0) {
		check_broken(stage->run, "%s: %s", probe->label, err.text);
		return NULL;
	}
	result = launch_result(probe->launch);
	stage_keep_output(stage, probe, result);
	launch_describe(result, description, sizeof(description));
	if (result->end == LAUNCH_LOST ||
	    (result->end == LAUNCH_NO_SANDBOX && !stage->judges_runtime)) {
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
	return stage_read_document(stage, probe, result);
}

const cJSON *stage_run(struct stage *stage, const char *label, const char *const *command,
		       const struct grant *grant)
{
	struct probe *probe = stage_start(stage, label, command, grant);

	return probe != NULL ? stage_finish(stage, probe) : NULL;
}

int64_t probe_started_ns(const struct probe *probe)
{
	return launch_result(probe->launch)->started_ns;
}

int64_t probe_finished_ns(const struct probe *probe)
{
	return launch_result(probe->launch)->finished_ns;
}
