/* SPDX-License-Identifier: MIT */
#include "conformance/runner/check_run.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/members.h"
#include "base/path.h"
#include "base/process.h"
#include "base/text.h"
#include "conformance/runner/output.h"
#include "conformance/runner/result.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum {
	EVIDENCE_MAX = 256 * 1024,
	EVIDENCE_NAME_MAX = 128,
	DEFERRED_MAX = 64,
	/* A plugin may answer with megabytes of paths. All records of a check end up in one line
	 * of the journal (JOURNAL_LINE_MAX), so each kind has its share of it. */
	TEXT_MAX = 2 * 1024,
	SHARE_RECORDS = 1024,
	SHARE_BYTES = 384 * 1024,
};

/* What the records of one kind have used up. */
struct share {
	size_t bytes;
	unsigned records;
	unsigned left_out;
};

struct deferred {
	void (*cleanup)(void *argument);
	void *argument;
};

struct check_run {
	const struct check *check;
	const struct check_variant *variant;
	const struct context *context;
	const char *directory;
	char *name;
	int result_fd;
	int write_error; /* errno of the first record that could not be written */
	struct deferred deferred[DEFERRED_MAX];
	size_t deferred_count;
	struct text_list texts; /* of check_format() */
	unsigned evidence_count;
	struct share failed;
	struct share held;
	struct share notes;
};

static bool share_takes(struct share *share, size_t size)
{
	if (share->records == SHARE_RECORDS || share->bytes + size > SHARE_BYTES) {
		share->left_out++;
		return false;
	}
	share->records++;
	share->bytes += size;
	return true;
}

/* Sends one record, while its share lasts, and takes ownership of it. `share` may be NULL. A record
 * that memory did not suffice for makes the check broken: what it would have said is lost. */
static void check_send_shared(struct check_run *run, struct members *record, struct share *share)
{
	cJSON *owned CLEANUP_JSON = members_take(record);
	char *json CLEANUP_FREE = owned != NULL ? json_print_compact(owned) : NULL;
	struct text line CLEANUP_TEXT = {0};

	if (json != NULL)
		text_addf(&line, "%s\n", json);
	if (json == NULL || line.failed) {
		run->write_error = ENOMEM;
		return;
	}
	if (share != NULL && !share_takes(share, line.size))
		return;
	if (!file_write_all(run->result_fd, line.data, line.size))
		run->write_error = errno;
}

static void check_send(struct check_run *run, struct members *record)
{
	check_send_shared(run, record, NULL);
}

static struct members check_record(const char *type)
{
	struct members record = members_new();

	member_string(&record, "record", type);
	return record;
}

/* NULL: memory ran out while it was made. */
static void check_add_text(struct members *record, const char *key, const char *text)
{
	struct text cut CLEANUP_TEXT = {0};
	size_t size = text != NULL ? strlen(text) : 0;

	if (size > TEXT_MAX) {
		text_append(&cut, text, TEXT_MAX);
		text_addf(&cut, "... (%zu bytes)", size);
		text = cut.failed ? NULL : text_string(&cut);
		size = cut.size;
	}
	member_item(record, key, text != NULL ? json_new_string(text, size) : NULL);
}

/* `varies` is what differs from run to run: "saw", "both" (also what is wanted), or NULL. */
static void check_assert(struct check_run *run, const char *file, int line, bool held,
			 const char *what, const char *wanted, const char *saw, const char *varies)
{
	struct members record CLEANUP_MEMBERS = check_record("assertion");
	char *at CLEANUP_FREE = text_format("%s:%d", path_base(file), line);

	check_add_text(&record, "what", what);
	check_add_text(&record, "wanted", wanted);
	check_add_text(&record, "saw", saw);
	member_bool(&record, "ok", held);
	check_add_text(&record, "at", at);
	if (varies != NULL)
		member_string(&record, "varies", varies);
	check_send_shared(run, &record, held ? &run->held : &run->failed);
}

static void check_assert_format(struct check_run *run, const char *file, int line, bool held,
				const char *what, const char *wanted, const char *varies,
				const char *saw_format, va_list args) PRINTF_LIKE(8, 0);

static void check_assert_format(struct check_run *run, const char *file, int line, bool held,
				const char *what, const char *wanted, const char *varies,
				const char *saw_format, va_list args)
{
	struct text saw CLEANUP_TEXT = {0};

	text_vaddf(&saw, saw_format, args);
	check_assert(run, file, line, held, what, wanted, saw.failed ? NULL : text_string(&saw),
		     varies);
}

void check_expect_at(struct check_run *run, const char *file, int line, bool held, const char *what,
		     const char *wanted, const char *saw_format, ...)
{
	va_list args;

	va_start(args, saw_format);
	check_assert_format(run, file, line, held, what, wanted, NULL, saw_format, args);
	va_end(args);
}

void check_expect_varying_at(struct check_run *run, const char *file, int line, bool held,
			     const char *what, const char *wanted, const char *saw_format, ...)
{
	va_list args;

	va_start(args, saw_format);
	check_assert_format(run, file, line, held, what, wanted, "saw", saw_format, args);
	va_end(args);
}

bool check_expect_int_at(struct check_run *run, const char *file, int line, const char *what,
			 long long saw, long long wanted)
{
	char *expected CLEANUP_FREE = text_format("%lld", wanted);

	check_expect_at(run, file, line, saw == wanted, what, expected, "%lld", saw);
	return saw == wanted;
}

bool check_expect_at_most_at(struct check_run *run, const char *file, int line, const char *what,
			     long long saw, long long most)
{
	char *expected CLEANUP_FREE = text_format("at most %lld", most);

	check_expect_varying_at(run, file, line, saw <= most, what, expected, "%lld", saw);
	return saw <= most;
}

static bool check_assert_text(struct check_run *run, const char *file, int line, const char *what,
			      const char *saw, const char *wanted, const char *varies)
{
	bool held = text_equal(saw, wanted);

	check_assert(run, file, line, held, what, wanted != NULL ? wanted : "(none)",
		     saw != NULL ? saw : "(none)", varies);
	return held;
}

bool check_expect_text_at(struct check_run *run, const char *file, int line, const char *what,
			  const char *saw, const char *wanted)
{
	return check_assert_text(run, file, line, what, saw, wanted, NULL);
}

bool check_expect_random_at(struct check_run *run, const char *file, int line, const char *what,
			    const char *saw, const char *wanted)
{
	return check_assert_text(run, file, line, what, saw, wanted, "both");
}

void check_expect_ok_at(struct check_run *run, const char *file, int line, int rc, const char *what,
			const struct error *err)
{
	check_assert(run, file, line, rc == 0, what, "success", rc == 0 ? "success" : err->text,
		     NULL);
}

static void check_send_remark(struct check_run *run, const char *type, struct share *share,
			      const char *format, va_list args) PRINTF_LIKE(4, 0);

static void check_send_remark(struct check_run *run, const char *type, struct share *share,
			      const char *format, va_list args)
{
	struct text text CLEANUP_TEXT = {0};
	struct members record CLEANUP_MEMBERS = check_record(type);

	text_vaddf(&text, format, args);
	check_add_text(&record, "text", text.failed ? NULL : text_string(&text));
	check_send_shared(run, &record, share);
}

void check_broken(struct check_run *run, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	check_send_remark(run, "broken", NULL, format, args);
	va_end(args);
}

void check_unsupported(struct check_run *run, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	check_send_remark(run, "unsupported", NULL, format, args);
	va_end(args);
}

void check_not_applicable(struct check_run *run, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	check_send_remark(run, "not-applicable", NULL, format, args);
	va_end(args);
}

void check_note(struct check_run *run, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	check_send_remark(run, "note", &run->notes, format, args);
	va_end(args);
}

/* evidence/<check>@<variant>/<n>-<name>, relative to the output folder. Names hold ids of devices,
 * which are the plugin's or a file's to choose: what is no plain file name is replaced. */
static char *check_evidence_path(struct check_run *run, const char *name)
{
	char *path = NULL;
	char *letter = NULL;

	run->evidence_count++;
	path = text_format(OUTPUT_EVIDENCE "/%s/%02u-%.*s", run->name, run->evidence_count,
			   (int)EVIDENCE_NAME_MAX, name);
	if (path == NULL)
		return NULL;
	for (letter = path + strlen(path) - strnlen(name, EVIDENCE_NAME_MAX); *letter != '\0';
	     letter++) {
		if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-",
			   *letter) == NULL)
			*letter = '_';
	}
	return path;
}

static int check_write_evidence(const struct check_run *run, const char *relative, const char *data,
				size_t size, struct error *err)
{
	char *path CLEANUP_FREE = path_join(run->context->out_directory, relative);
	char *directory CLEANUP_FREE = path != NULL ? path_directory(path) : NULL;
	int rc = 0;

	if (directory == NULL)
		return error_memory(err);
	rc = file_make_directories(directory, 0755, err);
	return rc == 0 ? file_write_atomic(path, data, size, 0644, err) : rc;
}

static void check_add_evidence(struct check_run *run, const char *name, const char *media,
			       const char *data, size_t size)
{
	struct text cut CLEANUP_TEXT = {0};
	char *relative CLEANUP_FREE = check_evidence_path(run, name);
	char digest[DIGEST_SIZE] = "";
	struct members record CLEANUP_MEMBERS = check_record("evidence");
	struct error err = {0};
	int rc = 0;

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
	rc = check_write_evidence(run, relative, data, size, &err);
	if (rc == ERROR_MEMORY)
		run->write_error = ENOMEM;
	if (rc < 0) {
		check_note(run, "evidence %s was not kept: %s", name, err.text);
		return;
	}
	digest_bytes(data, size, digest);
	check_add_text(&record, "name", name);
	check_add_text(&record, "media", media);
	check_add_text(&record, "path", relative);
	check_add_text(&record, "digest", digest);
	member_int(&record, "bytes", (int64_t)size);
	member_bool(&record, "truncated", cut.size != 0);
	check_send(run, &record);
}

void check_evidence_text(struct check_run *run, const char *name, const char *data, size_t size)
{
	check_add_evidence(run, name, "text/plain", data, size);
}

void check_evidence_json(struct check_run *run, const char *name, const cJSON *json)
{
	char *text CLEANUP_FREE = json != NULL ? json_print(json) : NULL;

	if (text != NULL)
		check_add_evidence(run, name, "application/json", text, strlen(text));
	else if (json != NULL)
		run->write_error = ENOMEM;
}

void check_add_device(struct check_run *run, const char *id)
{
	struct members record CLEANUP_MEMBERS = check_record("device");

	check_add_text(&record, "text", id);
	check_send(run, &record);
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

const void *check_param(const struct check_run *run)
{
	return run->variant != NULL ? run->variant->param : run->check->param;
}

void check_add_time(struct check_run *run, enum report_phase phase, uint64_t duration_ns)
{
	struct members record CLEANUP_MEMBERS = check_record("time");

	member_int(&record, "phase", (int64_t)phase);
	member_int(&record, "ns", (int64_t)duration_ns);
	check_send(run, &record);
}

void check_add_plugin(struct check_run *run, const char *resource, int pid)
{
	struct members record CLEANUP_MEMBERS = check_record("plugin");

	check_add_text(&record, "resource", resource);
	member_int(&record, "pid", pid);
	check_send(run, &record);
}

void check_add_watched(struct check_run *run, uint64_t ms, uint64_t thorough_ms)
{
	struct members record CLEANUP_MEMBERS = check_record("watched");

	member_int(&record, "ms", (int64_t)ms);
	member_int(&record, "thoroughMs", (int64_t)thorough_ms);
	check_send(run, &record);
}

const struct context *check_context(const struct check_run *run)
{
	return run->context;
}

const char *check_directory(const struct check_run *run)
{
	return run->directory;
}

const char *check_name(const struct check_run *run)
{
	return run->name;
}

static void check_tell_left_out(struct check_run *run)
{
	unsigned held = run->held.left_out;
	unsigned failed = run->failed.left_out;
	unsigned notes = run->notes.left_out;

	run->notes = (struct share){0};
	if (held + failed != 0)
		check_note(run, "%u more assertions that held and %u that did not are left out",
			   held, failed);
	if (notes != 0)
		check_note(run, "%u more notes are left out", notes);
}

/* Daemons of the plugin, most likely: everything else ended with its group. */
static void check_end_orphans(struct check_run *run)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct error err = {0};

	if (process_end_orphans(&names, &err) < 0)
		run->write_error = err.code == ERROR_MEMORY ? ENOMEM : EIO;
	for (size_t i = 0; i < names.count; i++)
		check_note(run, "%s was left running and is ended", names.items[i]);
}

int check_run_execute(const struct check *check, const struct check_variant *variant,
		      const struct context *context, const char *directory, int result_fd,
		      struct error *err)
{
	struct check_run run = {
		.check = check,
		.variant = variant,
		.context = context,
		.directory = directory,
		.result_fd = result_fd,
	};
	struct members finished CLEANUP_MEMBERS = check_record("finished");
	char *name CLEANUP_FREE = variant != NULL ? text_format("%s@%s", check->id, variant->name)
						  : strdup(check->id);

	if (name == NULL)
		return error_memory(err);
	run.name = name;
	process_adopt_orphans();
	check->run(&run);
	while (run.deferred_count > 0) {
		struct deferred *deferred = &run.deferred[--run.deferred_count];

		deferred->cleanup(deferred->argument);
	}
	check_end_orphans(&run);
	check_tell_left_out(&run);
	check_send(&run, &finished);
	text_list_free(&run.texts);
	return run.write_error != 0 ? error_system(err, run.write_error, "result pipe") : 0;
}
