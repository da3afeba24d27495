/* SPDX-License-Identifier: MIT */
#include "reports/certificates/publish/tests/folder_maker.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/members.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "reports/journal.h"
#include "reports/render.h"
#include "reports/tests/sample_plan.h"
#include "reports/writer.h"

static const char *const names[] = {JOURNAL_FILE_NAME, "report.json", "junit.xml", FOLDER_TEXT,
				    FOLDER_JSON,       FOLDER_LARGE,  FOLDER_EMPTY};

size_t sample_files(void)
{
	size_t count = 5; /* the journal and evidence */
	for (const struct writer *writer = writers; writer->name != NULL; writer++)
		count += writer->file_name != NULL;
	return count;
}

void sample_put(const char *directory, const char *name, const char *data, size_t size)
{
	char *path CLEANUP_FREE = path_join(directory, name);
	char *folder CLEANUP_FREE = path_directory(path);
	UNIT_INT(file_make_directories(folder, 0755, NULL), 0);
	UNIT_INT(file_write_atomic(path, data, size, 0644, NULL), 0);
}

static void add_evidence(struct journal *journal, const char *directory, const char *path,
			 const char *data, size_t size)
{
	struct members record CLEANUP_MEMBERS = members_new();
	char digest[DIGEST_SIZE] = "";
	sample_put(directory, path, data, size);
	digest_bytes(data, size, digest);
	member_string(&record, "name", "answer");
	member_string(&record, "media", "text/html"); /* nobody's to choose */
	member_string(&record, "path", path);
	member_string(&record, "digest", digest);
	member_int(&record, "bytes", (int64_t)size);
	member_bool(&record, "truncated", false);
	cJSON *json CLEANUP_JSON = members_take(&record);
	UNIT_INT(journal_add_seen(journal, "a.one", JOURNAL_EVIDENCE, json, NULL), 0);
}

static void add_all_evidence(struct journal *journal, const char *directory, const char *salt)
{
	struct text large CLEANUP_TEXT = {0};
	uint32_t state = (uint32_t)salt[0];
	char *bytes = text_extend(&large, FOLDER_LARGE_SIZE);
	for (size_t i = 0; i < FOLDER_LARGE_SIZE; i++) {
		state = state * 1664525 + 1013904223;
		bytes[i] = (char)(state >> 24);
	}
	add_evidence(journal, directory, FOLDER_TEXT, salt, strlen(salt));
	add_evidence(journal, directory, FOLDER_JSON, "{}", 2);
	add_evidence(journal, directory, FOLDER_LARGE, large.data, large.size);
	add_evidence(journal, directory, FOLDER_EMPTY, "", 0);
}

static void add_environment(struct journal *journal)
{
	static const char environment[] =
		"{\"os\": {\"product\": \"Windows Server 2022\", \"build\": 20348, \"revision\": 1547}, "
		"\"drivers\": [{\"key\": \"nvidia\", \"version\": \"552.12\"}]}";
	cJSON *json CLEANUP_JSON = NULL;
	UNIT_INT(json_parse(environment, strlen(environment), &json, NULL), 0);
	UNIT_INT(journal_add_environment(journal, json, NULL), 0);
}

void sample_make(const char *directory, const char *salt)
{
	static const char *const argv[] = {"run", NULL};
	const struct journal_run run = {.id = salt, .argv = argv, .timeout_percent = 100};
	const struct journal_check_end end = {
		.check = "a.one", .outcome = REPORT_UNSUPPORTED, .reason = "r"};
	struct journal *journal CLEANUP_JOURNAL = NULL;
	struct members plan CLEANUP_MEMBERS = {0};
	char *path CLEANUP_FREE = path_join(directory, JOURNAL_FILE_NAME);
	cJSON *report CLEANUP_JSON = NULL;
	struct error err = {0};
	UNIT_INT(file_make_directories(directory, 0755, &err), 0);
	UNIT_INT(journal_create(path, &run, &journal, &err), 0);
	add_environment(journal);
	UNIT_INT(json_parse(sample_plan, strlen(sample_plan), &plan.object, &err), 0);
	UNIT_INT(journal_add_plan(journal, &plan, &err), 0);
	UNIT_INT(journal_begin_check(journal, "a.one", 1000, &err), 0);
	add_all_evidence(journal, directory, salt);
	UNIT_INT(journal_end_check(journal, &end, &err), 0);
	UNIT_INT(journal_end(journal, &err), 0);
	UNIT_INT(report_read_directory(directory, &report, &err), 0);
	UNIT_INT(report_write_directory(directory, report, &err), 0);
	UNIT_STRING(err.text, "");
}

void sample_expect_same(const char *directory, const char *other)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *one CLEANUP_FREE = path_join(directory, names[i]);
		char *two CLEANUP_FREE = path_join(other, names[i]);
		char first[DIGEST_SIZE] = "";
		char second[DIGEST_SIZE] = "";
		UNIT_INT(digest_file(one, first, NULL, NULL), 0);
		UNIT_INT(digest_file(two, second, NULL, NULL), 0);
		UNIT_STRING(first, second);
	}
}

size_t sample_partials(const char *directory, unsigned long long *size)
{
	struct text_list found CLEANUP_TEXT_LIST = {0};
	size_t count = 0;
	*size = 0;
	(void)file_list(directory, &found, NULL);
	text_each (name, &found) {
		char *path CLEANUP_FREE = path_join(directory, name);
		char digest[DIGEST_SIZE] = "";
		if (!text_starts_with(name, ".pull-"))
			continue;
		UNIT_INT(digest_file(path, digest, size, NULL), 0);
		count++;
	}
	return count;
}
