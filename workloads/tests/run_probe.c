/* SPDX-License-Identifier: MIT */
#include "workloads/tests/run_probe.h"

#include "base/tests/unit.h"
#include "workloads/tests/expect.h"

#include "base/cleanup.h"
#include "base/text.h"

#define PROGRAMS GPUCERT_BINARY_DIR "/libexec/gpucert/"
#define TESTS	 GPUCERT_BINARY_DIR "/tests/"

#ifdef _WIN32
#define PROGRAM_SUFFIX ".exe"
#else
#define PROGRAM_SUFFIX ""
#endif

static FILE *documents;

int probe_documents_open(const char *name)
{
	char *path CLEANUP_FREE = text_format(TESTS "%s", name);
	documents = path != NULL ? fopen(path, "wb") : NULL;
	return documents != NULL ? 0 : 2;
}

int probe_documents_close(void)
{
	return fclose(documents) == 0 ? 0 : 2;
}

int probe_tests(const char *suite, const char *name, CU_TestInfo *tests)
{
	if (probe_documents_open(name) != 0)
		return 2;
	int code = unit_run(suite, tests);
	return probe_documents_close() != 0 ? 2 : code;
}

struct process_result probe_run(const struct probe *probe)
{
	char *path CLEANUP_FREE = text_format(PROGRAMS "%s" PROGRAM_SUFFIX, probe->program);
	const char *const argv[] = {path, probe->option, probe->value, NULL};
	const struct process_spec spec = {.argv = argv, .env = probe->env, .timeout_ms = 300000};
	struct process_result result = {0};
	struct error err = {0};
	CU_ASSERT_PTR_NOT_NULL_FATAL(path);
	CU_ASSERT_EQUAL_FATAL(process_run(&spec, &result, &err), 0);
	return result;
}

cJSON *probe_document(const struct probe *probe)
{
	struct process_result result = probe_run(probe);
	const char *out = text_string(&result.out);
	const char *newline = strchr(out, '\n');
	struct error err = {0};
	cJSON *document = NULL;
	if (result.end != PROCESS_EXITED || result.code != 0)
		(void)fprintf(stderr, "%s\n", text_string(&result.err));
	CU_ASSERT_EQUAL(result.end, PROCESS_EXITED);
	CU_ASSERT_EQUAL(result.code, 0);
	CU_ASSERT_PTR_EQUAL(newline, out + result.out.size - 1);
	CU_ASSERT_EQUAL(fwrite(out, 1, result.out.size, documents), result.out.size);
	CU_ASSERT_EQUAL(json_parse(out, result.out.size, &document, &err), 0);
	expect_string(document, "/schema", "gpucert-probe/1");
	process_result_free(&result);
	return document;
}

void expect_unsupported(const struct probe *probe, const char *missing)
{
	cJSON *document CLEANUP_JSON = probe_document(probe);
	expect_string(document, "/api/status", "unsupported");
	expect_string(document, "/api/missing", missing);
	CU_ASSERT(cJSON_IsString(json_pointer(document, "/api/reason")));
	expect_count(document, "/devices", 0);
	expect_null(document, "/work");
}
