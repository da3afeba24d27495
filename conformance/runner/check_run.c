/* SPDX-License-Identifier: MIT */
#include "conformance/runner/execution.h"

#include "base/digest_cache.h"
#include "base/file.h"
#include "base/members.h"
#include "base/path.h"
#include "base/process.h"
#include "base/text.h"
#include "conformance/runner/keep.h"
#include "conformance/runner/output.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum {
	EVIDENCE_MAX = 256 * 1024,
	EVIDENCE_NAME_MAX = 128,
	DEFERRED_MAX = 64,
	RUNNER_EVIDENCE = 99, /* the number of the runner's own, after the check's */
	TEXT_MAX = 2 * 1024,  /* a plugin may answer with megabytes of paths */
};

struct deferred {
	void (*cleanup)(void *argument);
	void *argument;
};

struct check_run {
	const struct check *check;
	const struct context *context;
	const char *directory;
	struct result *into; /* receives the runner's own records; NULL: records go to result_fd */
	int result_fd;
	int write_error; /* errno of the first record that could not be written */
	struct deferred deferred[DEFERRED_MAX];
	size_t deferred_count;
	struct text_list texts;	      /* of check_format() */
	struct digest_cache *digests; /* opened at first use */
	unsigned evidence_count;
	const char *kubelet;		     /* of this run of the body */
	bool kept;			     /* it has already waited (--keep) */
	bool recorded[REPORT_OUTCOME_COUNT]; /* since check_begin_device() */
};

/* Sends one line and takes ownership of it. */
static void send_line(struct check_run *run, struct members *record)
{
	cJSON *owned CLEANUP_JSON = members_take(record);
	char *json CLEANUP_FREE = json_print_compact(owned);
	struct text line CLEANUP_TEXT = {0};

	if (run->into != NULL) {
		if (result_add_line(run->into, json, strlen(json), NULL) != 0)
			run->write_error = EIO;
		return;
	}
	text_addf(&line, "%s\n", json);
	if (!file_write_all(run->result_fd, line.data, line.size))
		run->write_error = errno;
}

static struct members line_new(const char *type)
{
	struct members record = members_new();
	member_string(&record, "type", type);
	return record;
}

static void add_text(const struct check_run *run, struct members *record, const char *key,
		     const char *text)
{
	struct text cut CLEANUP_TEXT = {0};
	struct text redacted CLEANUP_TEXT = {0};
	size_t size = strlen(text);

	/* The journal is redacted as well, but sees only what is left after the cut. */
	if (size > TEXT_MAX) {
		redact_text(run->context->redactor, text, size, &redacted);
		text_append(&cut, text_string(&redacted),
			    redacted.size < TEXT_MAX ? redacted.size : TEXT_MAX);
		text_addf(&cut, "... (%zu bytes)", size);
		text = text_string(&cut);
		size = cut.size;
	}
	member_item(record, key, json_new_string(text, size));
}

static bool runs_twice(const struct check_run *run)
{
	return run->check->each_kubelet &&
	       text_equal(run->context->kubelet_profile, CONTEXT_BOTH_KUBELETS);
}

void check_expect_at(struct check_run *run, const char *file, int line, bool held,
		     const char *varies, const char *what, const char *wanted,
		     const char *saw_format, ...)
{
	struct members record CLEANUP_MEMBERS = line_new("assertion");
	char *at CLEANUP_FREE = text_format("%s:%d", path_base(file), line);
	char *named CLEANUP_FREE =
		runs_twice(run) ? text_format("kubelet %s: %s", run->kubelet, what) : NULL;
	struct text saw CLEANUP_TEXT = {0};
	va_list args;

	va_start(args, saw_format);
	text_vaddf(&saw, saw_format, args);
	va_end(args);

	add_text(run, &record, "what", named != NULL ? named : what);
	add_text(run, &record, "wanted", wanted);
	add_text(run, &record, "saw", text_string(&saw));
	member_bool(&record, "ok", held);
	add_text(run, &record, "at", at);
	if (varies != NULL)
		member_string(&record, "varies", varies);
	if (run->check->each_kubelet)
		member_string(&record, "kubelet", run->kubelet);
	run->recorded[held ? REPORT_PASS : REPORT_FAIL] = true;
	send_line(run, &record);
	if (!held && run->context->keep && !run->kept && run->into == NULL) {
		struct members kept CLEANUP_MEMBERS = line_new("kept");
		run->kept = true;
		send_line(run, &kept);
		keep_wait(run->directory);
	}
}

bool check_expect_int_at(struct check_run *run, const char *file, int line, const char *what,
			 long long saw, long long wanted)
{
	char *expected CLEANUP_FREE = text_format("%lld", wanted);
	check_expect_at(run, file, line, saw == wanted, NULL, what, expected, "%lld", saw);
	return saw == wanted;
}

bool check_expect_at_most_at(struct check_run *run, const char *file, int line, const char *varies,
			     const char *what, long long saw, long long most)
{
	char *expected CLEANUP_FREE = text_format("at most %lld", most);
	check_expect_at(run, file, line, saw <= most, varies, what, expected, "%lld", saw);
	return saw <= most;
}

bool check_expect_text_at(struct check_run *run, const char *file, int line, const char *varies,
			  const char *what, const char *saw, const char *wanted)
{
	bool held = text_equal(saw, wanted);
	check_expect_at(run, file, line, held, varies, what, wanted != NULL ? wanted : "(none)",
			"%s", saw != NULL ? saw : "(none)");
	return held;
}

void check_expect_ok_at(struct check_run *run, const char *file, int line, int rc, const char *what,
			const struct error *err)
{
	check_expect_at(run, file, line, rc == 0, NULL, what, "success", "%s",
			rc == 0 ? "success" : err->text);
}

void check_remark(struct check_run *run, const char *outcome, const char *format, ...)
{
	struct text text CLEANUP_TEXT = {0};
	struct members record CLEANUP_MEMBERS = line_new(outcome != NULL ? "remark" : "note");
	va_list args;
	va_start(args, format);
	text_vaddf(&text, format, args);
	va_end(args);
	if (outcome != NULL) {
		member_string(&record, "outcome", outcome);
		run->recorded[report_outcome_of(outcome)] = true;
	}
	add_text(run, &record, "text", text_string(&text));
	send_line(run, &record);
}

void check_advise(struct check_run *run, const char *advice)
{
	struct members record CLEANUP_MEMBERS = line_new("advice");
	add_text(run, &record, "text", advice);
	send_line(run, &record);
}

/* Stored as evidence/<check>/<n>-<name> in the output folder. */
static void add_evidence(struct check_run *run, const char *name, const char *media,
			 const char *data, size_t size)
{
	struct text redacted CLEANUP_TEXT = {0};
	struct text cut CLEANUP_TEXT = {0};
	char digest[DIGEST_SIZE] = "";
	struct members record CLEANUP_MEMBERS = line_new("evidence");
	struct error err = {0};

	/* Names hold ids of devices, which the plugin or a file chooses. */
	char *plain CLEANUP_FREE = redact_file_name(run->context->redactor, name);
	char *relative CLEANUP_FREE =
		text_format(OUTPUT_EVIDENCE "/%s/%02u-%.*s", run->check->id, ++run->evidence_count,
			    (int)EVIDENCE_NAME_MAX, plain);

	redact_content(run->context->redactor, media, data, size, &redacted);
	data = text_string(&redacted);
	size = redacted.size;
	if (size > EVIDENCE_MAX) {
		text_append(&cut, data, EVIDENCE_MAX / 2);
		text_addf(&cut, "\n... %zu bytes left out ...\n", size - EVIDENCE_MAX);
		text_append(&cut, data + size - EVIDENCE_MAX / 2, EVIDENCE_MAX / 2);
		data = text_string(&cut);
		size = cut.size;
	}

	if (output_write(run->context->out_directory, relative, data, size, &err) < 0) {
		check_note(run, "evidence %s was not kept: %s", name, err.text);
		return;
	}

	digest_bytes(data, size, digest);
	add_text(run, &record, "name", name);
	add_text(run, &record, "media", media);
	add_text(run, &record, "path", relative);
	add_text(run, &record, "digest", digest);
	member_int(&record, "bytes", (int64_t)size);
	member_bool(&record, "truncated", cut.size != 0);
	send_line(run, &record);
}

void check_evidence_text(struct check_run *run, const char *name, const char *data, size_t size)
{
	add_evidence(run, name, "text/plain", data, size);
}

void check_evidence_json(struct check_run *run, const char *name, const cJSON *json)
{
	char *text CLEANUP_FREE = json_print(json);

	if (text != NULL)
		add_evidence(run, name, "application/json", text, strlen(text));
}

void check_add_device(struct check_run *run, const char *id)
{
	struct members record CLEANUP_MEMBERS = line_new("device");
	add_text(run, &record, "ref", id);
	send_line(run, &record);
}

void check_begin_device(struct check_run *run, const char *id)
{
	memset(run->recorded, 0, sizeof(run->recorded));
	check_add_device(run, id);
}

void check_end_device(struct check_run *run, const char *id)
{
	struct members record CLEANUP_MEMBERS = line_new("device");
	add_text(run, &record, "ref", id);
	member_string(&record, "outcome",
		      report_outcome_names[report_outcome_decided(run->recorded)]);
	send_line(run, &record);
}

void check_defer(struct check_run *run, void (*cleanup)(void *argument), void *argument)
{
	if (run->deferred_count == DEFERRED_MAX) {
		cleanup(argument);
		check_broken(run, "more than %d clean-ups in one check", DEFERRED_MAX);
		return;
	}
	run->deferred[run->deferred_count++] = (struct deferred){cleanup, argument};
}

bool check_works(struct check_run *run, int rc, const char *what, const struct error *err)
{
	if (rc != 0)
		check_broken(run, "%s%s%s", what != NULL ? what : "", what != NULL ? ": " : "",
			     err->text);
	return rc == 0;
}

/* Takes ownership of the text, for as long as the check runs. */
static const char *keep_text(struct check_run *run, char *text)
{
	text_list_take(&run->texts, text);
	return text;
}

const char *check_format(struct check_run *run, const char *format, ...)
{
	struct text text CLEANUP_TEXT = {0};
	va_list args;

	va_start(args, format);
	text_vaddf(&text, format, args);
	va_end(args);
	return keep_text(run, text_take(&text));
}

const char *check_path(struct check_run *run, const char *name)
{
	return keep_text(run, path_join(run->directory, name));
}

const char *check_run_path(struct check_run *run, const char *name)
{
	return keep_text(run, path_join(run->context->run_directory, name));
}

struct digest_cache *check_digests(struct check_run *run)
{
	if (run->digests == NULL)
		(void)digest_cache_open(check_run_path(run, CONTEXT_DIGESTS_FILE), &run->digests,
					NULL);
	return run->digests;
}

const char *check_kubelet(const struct check_run *run)
{
	return run->kubelet;
}

const struct check *check_row(const struct check_run *run)
{
	return run->check;
}

void check_add_time(struct check_run *run, enum report_phase phase, uint64_t duration_ns)
{
	struct members record CLEANUP_MEMBERS = line_new("time");
	member_int(&record, "phase", (int64_t)phase);
	member_int(&record, "ns", (int64_t)duration_ns);
	send_line(run, &record);
}

void check_add_plugin(struct check_run *run, const char *resource, int pid)
{
	struct members record CLEANUP_MEMBERS = line_new("plugin");
	add_text(run, &record, "resource", resource);
	member_int(&record, "pid", pid);
	send_line(run, &record);
}

void check_add_failing(struct check_run *run, const char *device, bool fails)
{
	struct members record CLEANUP_MEMBERS = line_new("failing");
	add_text(run, &record, "device", device);
	member_bool(&record, "fails", fails);
	send_line(run, &record);
}

void check_add_record(struct check_run *run, const char *type, struct members *record)
{
	member_string(record, "type", type);
	send_line(run, record);
}

void check_add_watched(struct check_run *run, uint64_t ms, uint64_t thorough_ms)
{
	struct members record CLEANUP_MEMBERS = line_new("watched");
	member_int(&record, "ms", (int64_t)ms);
	member_int(&record, "thoroughMs", (int64_t)thorough_ms);
	send_line(run, &record);
}

const struct context *check_context(const struct check_run *run)
{
	return run->context;
}

static void run_body(struct check_run *run, const char *kubelet)
{
	run->kubelet = kubelet;
	run->check->run(run);
	while (run->deferred_count > 0) {
		struct deferred *deferred = &run->deferred[--run->deferred_count];
		deferred->cleanup(deferred->argument);
	}
}

int check_run_execute(const struct check *check, const struct context *context,
		      const char *directory, int result_fd, struct error *err)
{
	struct check_run run = {
		.check = check,
		.context = context,
		.directory = directory,
		.result_fd = result_fd,
	};
	struct members finished CLEANUP_MEMBERS = line_new("finished");
	struct text_list names CLEANUP_TEXT_LIST = {0};

	process_adopt_orphans();
	process_end_with_children();
	bool both = text_equal(context->kubelet_profile, CONTEXT_BOTH_KUBELETS);
	run_body(&run, both ? report_kubelet_names[0] : context->kubelet_profile);
	for (size_t i = 1; runs_twice(&run) && report_kubelet_names[i] != NULL; i++) {
		/* Once more, in a folder of its own. */
		struct error why = {0};
		const char *own = check_path(&run, report_kubelet_names[i]);
		if (!check_works(&run, file_make_directories(own, 0700, &why), NULL, &why))
			continue;
		run.directory = own;
		run_body(&run, report_kubelet_names[i]);
	}

	/* Daemons of the plugin, most likely: everything else ended with its group. */
	if (process_end_orphans(&names, NULL) < 0)
		run.write_error = EIO;
	text_each (name, &names)
		check_note(&run, "%s was left running and is ended", name);

	send_line(&run, &finished);
	text_list_free(&run.texts);
	digest_cache_free(&run.digests);
	return run.write_error != 0 ? error_system(err, run.write_error, "standard output") : 0;
}

int check_run_add(const struct check *check, const struct context *context, struct result *result,
		  void (*record)(struct check_run *run, void *user), void *user, struct error *err)
{
	struct check_run run = {
		.check = check,
		.context = context,
		.into = result,
		.evidence_count = RUNNER_EVIDENCE - 1,
	};
	record(&run, user);
	text_list_free(&run.texts);
	digest_cache_free(&run.digests);
	return run.write_error != 0 ? error_system(err, run.write_error, "%s", check->id) : 0;
}
