/* SPDX-License-Identifier: MIT */
#include "conformance/runner/execution.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/members.h"
#include "base/path.h"
#include "base/process.h"
#include "base/text.h"
#include "conformance/runner/output.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum {
	EVIDENCE_MAX = 256 * 1024,
	EVIDENCE_NAME_MAX = 128,
	DEFERRED_MAX = 64,
	RUNNER_EVIDENCE = 99, /* the number of what the runner adds, behind the check's own */
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
	struct result *into; /* of the runner's own records; NULL: they go to result_fd */
	int result_fd;
	int write_error; /* errno of the first record that could not be written */
	struct deferred deferred[DEFERRED_MAX];
	size_t deferred_count;
	struct text_list texts; /* of check_format() */
	unsigned evidence_count;
	bool recorded[REPORT_OUTCOME_COUNT]; /* since check_begin_device() */
};

/* Sends one line and takes ownership of it. One that memory did not suffice for makes the check
 * broken: what it would have said is lost. */
static void send_line(struct check_run *run, struct members *record)
{
	cJSON *owned CLEANUP_JSON = members_take(record);
	char *json CLEANUP_FREE = owned != NULL ? json_print_compact(owned) : NULL;
	struct text line CLEANUP_TEXT = {0};
	struct error err = {0};
	if (json != NULL && run->into != NULL) {
		if (result_add_line(run->into, json, strlen(json), &err) != 0)
			run->write_error = EIO;
		return;
	}
	if (json != NULL)
		text_addf(&line, "%s\n", json);
	if (json == NULL || line.failed) {
		run->write_error = ENOMEM;
		return;
	}
	if (!file_write_all(run->result_fd, line.data, line.size))
		run->write_error = errno;
}

static struct members line_new(const char *type)
{
	struct members record = members_new();
	member_string(&record, "type", type);
	return record;
}

/* NULL: memory ran out while it was made. */
static void add_text(const struct check_run *run, struct members *record, const char *key,
		     const char *text)
{
	struct text cut CLEANUP_TEXT = {0};
	struct text redacted CLEANUP_TEXT = {0};
	size_t size = text != NULL ? strlen(text) : 0;
	if (size > TEXT_MAX) { /* the journal is redacted, but sees only what is left of it */
		redact_text(run->context->redactor, text, size, &redacted);
		text_append(&cut, text_string(&redacted),
			    redacted.size < TEXT_MAX ? redacted.size : TEXT_MAX);
		text_addf(&cut, "... (%zu bytes)", size);
		cut.failed = cut.failed || redacted.failed;
		text = cut.failed ? NULL : text_string(&cut);
		size = cut.size;
	}
	member_item(record, key, text != NULL ? json_new_string(text, size) : NULL);
}

void check_expect_at(struct check_run *run, const char *file, int line, bool held,
		     const char *varies, const char *what, const char *wanted,
		     const char *saw_format, ...)
{
	struct members record CLEANUP_MEMBERS = line_new("assertion");
	char *at CLEANUP_FREE = text_format("%s:%d", path_base(file), line);
	struct text saw CLEANUP_TEXT = {0};
	va_list args;
	va_start(args, saw_format);
	text_vaddf(&saw, saw_format, args);
	va_end(args);
	add_text(run, &record, "what", what);
	add_text(run, &record, "wanted", wanted);
	add_text(run, &record, "saw", saw.failed ? NULL : text_string(&saw));
	member_bool(&record, "ok", held);
	add_text(run, &record, "at", at);
	if (varies != NULL)
		member_string(&record, "varies", varies);
	run->recorded[held ? REPORT_PASS : REPORT_FAIL] = true;
	send_line(run, &record);
}

bool check_expect_int_at(struct check_run *run, const char *file, int line, const char *what,
			 long long saw, long long wanted)
{
	char *expected CLEANUP_FREE = text_format("%lld", wanted);
	check_expect_at(run, file, line, saw == wanted, NULL, what, expected, "%lld", saw);
	return saw == wanted;
}

bool check_expect_at_most_at(struct check_run *run, const char *file, int line, const char *what,
			     long long saw, long long most)
{
	char *expected CLEANUP_FREE = text_format("at most %lld", most);
	check_expect_at(run, file, line, saw <= most, "saw", what, expected, "%lld", saw);
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
	add_text(run, &record, "text", text.failed ? NULL : text_string(&text));
	send_line(run, &record);
}

void check_advise(struct check_run *run, const char *advice)
{
	struct members record CLEANUP_MEMBERS = line_new("advice");
	add_text(run, &record, "text", advice);
	send_line(run, &record);
}

/* evidence/<check>/<n>-<name>, relative to the output folder. Names hold ids of devices,
 * which are the plugin's or a file's to choose: what is not a plain file name on every system is replaced. */
static char *evidence_path(struct check_run *run, const char *name)
{
	char *plain CLEANUP_FREE = redact_file_name(run->context->redactor, name);
	run->evidence_count++;
	return plain != NULL ? text_format(OUTPUT_EVIDENCE "/%s/%02u-%.*s", run->check->id,
					   run->evidence_count, (int)EVIDENCE_NAME_MAX, plain)
			     : NULL;
}

static void add_evidence(struct check_run *run, const char *name, const char *media,
			 const char *data, size_t size)
{
	struct text redacted CLEANUP_TEXT = {0};
	struct text cut CLEANUP_TEXT = {0};
	char *relative CLEANUP_FREE = evidence_path(run, name);
	char digest[DIGEST_SIZE] = "";
	struct members record CLEANUP_MEMBERS = line_new("evidence");
	struct error err = {0};
	if (redact_content(run->context->redactor, media, data, size, &redacted, &err) < 0) {
		run->write_error = ENOMEM;
		return;
	}
	data = text_string(&redacted);
	size = redacted.size;
	if (size > EVIDENCE_MAX) {
		text_append(&cut, data, EVIDENCE_MAX / 2);
		text_addf(&cut, "\n... %zu bytes left out ...\n", size - EVIDENCE_MAX);
		text_append(&cut, data + size - EVIDENCE_MAX / 2, EVIDENCE_MAX / 2);
		data = text_string(&cut);
	}
	if (relative == NULL || cut.failed) {
		run->write_error = ENOMEM;
		return;
	}
	size = cut.size != 0 ? cut.size : size;
	int rc = output_write(run->context->out_directory, relative, data, size, &err);
	if (rc == ERROR_MEMORY)
		run->write_error = ENOMEM;
	if (rc < 0) {
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
	else if (json != NULL)
		run->write_error = ENOMEM;
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

const char *check_format(struct check_run *run, const char *format, ...)
{
	struct text text CLEANUP_TEXT = {0};
	struct error err = {0};
	va_list args;
	va_start(args, format);
	text_vaddf(&text, format, args);
	va_end(args);
	return check_works(run, text_list_take(&run->texts, text_take(&text), &err), NULL, &err)
		       ? run->texts.items[run->texts.count - 1]
		       : "";
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

void check_add_prediction(struct check_run *run, struct members *prediction)
{
	member_string(prediction, "type", "prediction");
	send_line(run, prediction);
}

void check_add_sight(struct check_run *run, struct members *sight)
{
	member_string(sight, "type", "sight");
	send_line(run, sight);
}

void check_add_ran(struct check_run *run, struct members *ran)
{
	member_string(ran, "type", "ran");
	send_line(run, ran);
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

static const char *keep_path(struct check_run *run, const char *folder, const char *name)
{
	struct error err = {0};
	int rc = text_list_take(&run->texts, path_join(folder, name), &err);
	return check_works(run, rc, NULL, &err) ? run->texts.items[run->texts.count - 1] : "";
}

const char *check_path(struct check_run *run, const char *name)
{
	return keep_path(run, run->directory, name);
}

const char *check_run_path(struct check_run *run, const char *name)
{
	return keep_path(run, run->context->run_directory, name);
}

/* Daemons of the plugin, most likely: everything else ended with its group. */
static void end_orphans(struct check_run *run)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	if (process_end_orphans(&names, &err) < 0)
		run->write_error = err.code == ERROR_MEMORY ? ENOMEM : EIO;
	for (size_t i = 0; i < names.count; i++)
		check_note(run, "%s was left running and is ended", names.items[i]);
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
	process_adopt_orphans();
	check->run(&run);
	while (run.deferred_count > 0) {
		struct deferred *deferred = &run.deferred[--run.deferred_count];
		deferred->cleanup(deferred->argument);
	}
	end_orphans(&run);
	send_line(&run, &finished);
	text_list_free(&run.texts);
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
	return run.write_error != 0 ? error_system(err, run.write_error, "%s", check->id) : 0;
}
