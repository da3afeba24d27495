/* SPDX-License-Identifier: MIT */
/* What was changed after a run is noticed. */
#include "base/digest.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "reports/tests/cases.h"

#include <unistd.h>

static char *directory;

static char *below(const char *name)
{
	char *path = path_join(directory, name);
	CU_ASSERT_PTR_NOT_NULL_FATAL(path);
	return path;
}

static void write_file(const char *name, const char *data, size_t size)
{
	char *path CLEANUP_FREE = below(name);
	char *folder CLEANUP_FREE = path_directory(path);
	UNIT_INT(file_make_directories(folder, 0755, NULL), 0);
	UNIT_INT(file_write_atomic(path, data, size, 0644, NULL), 0);
}

static int read_changed(const struct text *changed, struct error *err)
{
	char *path CLEANUP_FREE = below("changed.ndjson");
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	UNIT_INT(file_write_atomic(path, changed->data, changed->size, 0644, NULL), 0);
	return journal_read(path, &log, err);
}

struct lines {
	char *journal;
	const char *starts[64];
	size_t count; /* starts[count] is the end */
};

static struct lines read_lines(const char *name)
{
	char *path CLEANUP_FREE = golden_path(name, JOURNAL_FILE_NAME);
	struct lines lines = {0};
	size_t size = 0;
	UNIT_INT(file_read(path, JOURNAL_SIZE_MAX, &lines.journal, &size, NULL), 0);
	for (const char *at = lines.journal; at < lines.journal + size; at = strchr(at, '\n') + 1)
		lines.starts[lines.count++] = at;
	lines.starts[lines.count] = lines.journal + size;
	return lines;
}

static void add_line(struct text *out, const struct lines *lines, size_t line)
{
	text_append(out, lines->starts[line],
		    (size_t)(lines->starts[line + 1] - lines->starts[line]));
}

/* One word of each line in turn, but for the last: nothing follows that. */
static void test_a_changed_line_is_noticed(void)
{
	struct lines lines = read_lines("outcomes");
	for (size_t changed = 0; changed + 1 < lines.count; changed++) {
		struct text journal CLEANUP_TEXT = {0};
		struct error err = {0};
		char *place = NULL;
		for (size_t i = 0; i < lines.count; i++) {
			size_t start = journal.size;
			add_line(&journal, &lines, i);
			if (i != changed)
				continue;
			place = strstr(journal.data + start, "2026-11-20T");
			UNIT_NEED(place != NULL);
			place[3] = '7';
		}
		UNIT_INT(read_changed(&journal, &err), ERROR_FORMAT);
		UNIT_CONTAINS(err.text, "the journal was changed after the run");
	}
	free(lines.journal);
}

static void test_a_forged_outcome_is_noticed(void)
{
	struct lines lines = read_lines("outcomes");
	struct text journal CLEANUP_TEXT = {0};
	struct error err = {0};
	char *fail = NULL;
	for (size_t i = 0; i < lines.count; i++)
		add_line(&journal, &lines, i);
	fail = strstr(journal.data, "\"outcome\":\"fail\"");
	UNIT_NEED(fail != NULL);
	memcpy(fail + strlen("\"outcome\":\""), (const char[]){'p', 'a', 's', 's'}, 4);
	UNIT_INT(read_changed(&journal, &err), ERROR_FORMAT);
	free(lines.journal);
}

static void test_an_unchained_journal_is_refused(void)
{
	struct text journal CLEANUP_TEXT = {0};
	struct error err = {0};
	text_add(
		&journal,
		"{\"seq\":1,\"atMs\":0,\"time\":\"t\",\"type\":\"run-begin\",\"schema\":\"gpucert-journal/2\"}\n");
	UNIT_INT(read_changed(&journal, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "changed.ndjson:1: prev:");
}

static void test_the_digest_stands_for_every_line(void)
{
	char *path CLEANUP_FREE = golden_path("complete", JOURNAL_FILE_NAME);
	struct lines lines = read_lines("complete");
	struct journal_log log CLEANUP_JOURNAL_LOG = {0};
	char last[DIGEST_SIZE] = "";
	digest_bytes(lines.starts[lines.count - 1], strlen(lines.starts[lines.count - 1]), last);
	UNIT_INT(journal_read(path, &log, NULL), 0);
	UNIT_STRING(log.digest, last);
	free(lines.journal);
}

#define KEPT "evidence/a.one/01-kept.json"

/* The faults of a report with one piece of evidence, which the run stored as `data`. */
static char *faults_of(const char *path, const char *data, long bytes)
{
	struct text_list faults CLEANUP_TEXT_LIST = {0};
	char digest[DIGEST_SIZE] = "";
	cJSON *report CLEANUP_JSON = NULL;
	char *json CLEANUP_FREE = NULL;
	digest_bytes(data, strlen(data), digest);
	json = text_format("{\"checks\":[{\"evidence\":[{\"path\":\"%s\",\"digest\":\"%s\","
			   "\"bytes\":%ld}]}]}",
			   path, digest, bytes);
	report = cJSON_Parse(json);
	report_verify_evidence(directory, report, &faults);
	return strdup(faults.count != 0 ? faults.items[0] : "");
}

static void expect_fault(const char *path, const char *data, const char *fault)
{
	char *seen CLEANUP_FREE = faults_of(path, data, (long)strlen(data));
	if (fault[0] == '\0')
		UNIT_STRING(seen, "");
	UNIT_CONTAINS(seen, fault);
}

static void test_evidence_is_compared(void)
{
	write_file(KEPT, "{\"a\":1}", 7);
	expect_fault(KEPT, "{\"a\":1}", "");
	expect_fault(KEPT, "{\"a\":2}", KEPT ": is sha256:");
	expect_fault(KEPT, "{}", "longer than 2 bytes");
	expect_fault("evidence/a.one/02-gone.json", "{}", "02-gone.json");
	expect_fault("../evidence", "{}", "../evidence: ");
	expect_fault("evidence/../" KEPT, "{\"a\":1}", "leads out of the folder");
	expect_fault("evidence", "{}", "evidence: ");
}

/* How much is read does not depend on a stranger. */
static void test_no_size_is_believed(void)
{
	write_file(KEPT, "{\"a\":1}", 7);
	char *negative CLEANUP_FREE = faults_of(KEPT, "{\"a\":1}", -1);
	UNIT_CONTAINS(negative, "longer than 0 bytes");
	char *kept CLEANUP_FREE = text_format("%s/%s", directory, KEPT);
	UNIT_INT(truncate(kept, REPORT_EVIDENCE_MAX + 1), 0);
	char *large CLEANUP_FREE = faults_of(KEPT, "{\"a\":1}", 2147483647);
	UNIT_CONTAINS(large, "longer than 67108864 bytes");
}

#ifndef _WIN32
static void test_evidence_behind_a_link_is_a_fault(void)
{
	char *link CLEANUP_FREE = below("evidence/link.json");
	write_file("outside.json", "{}", 2);
	UNIT_INT(symlink("../outside.json", link), 0);
	expect_fault("evidence/link.json", "{}", "leads out of the folder");
}
#endif

int main(void)
{
	CU_TestInfo tests[] = {
		{"a changed line is noticed", test_a_changed_line_is_noticed},
		{"a forged outcome is noticed", test_a_forged_outcome_is_noticed},
		{"an unchained journal is refused", test_an_unchained_journal_is_refused},
		{"the digest stands for every line", test_the_digest_stands_for_every_line},
		{"evidence is compared", test_evidence_is_compared},
		{"no size is believed", test_no_size_is_believed},
#ifndef _WIN32
		{"evidence behind a link is a fault", test_evidence_behind_a_link_is_a_fault},
#endif
		CU_TEST_INFO_NULL,
	};
	int rc = 0;
	if (file_make_temporary(GPUCERT_BINARY_DIR "/tests", "verify-", &directory, NULL) < 0)
		return 1;
	rc = unit_run("verify", tests);
	(void)file_remove_tree(directory, NULL);
	free(directory);
	return rc;
}
