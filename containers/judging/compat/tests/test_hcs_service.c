/* SPDX-License-Identifier: MIT */
/*
 * The service is asked through the libraries of Windows, in whose place doubles stand. Wine has
 * neither library, so that the whole way can be gone: none, the older one, the newer one. A library
 * that is loaded is found by its name.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/library.h"
#include "base/tests/unit.h"
#include "containers/judging/compat/hcs_service.h"

#include <stdlib.h>

#define ANSWER_OF(minor)                                                                           \
	"{\"Properties\":[{\"SupportedSchemaVersions\":[{\"Major\":1,\"Minor\":0},{\"Major\":2,"   \
	"\"Minor\":" minor "}]}]}"

static char *answer_path;

static void load(const char *path)
{
	void *handle = NULL;
	struct error err = {0};
	if (library_open(path, &handle, &err) < 0)
		(void)printf("\n%s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(handle);
}

static void set(const char *name, const char *value)
{
	char *pair CLEANUP_FREE = text_format("%s=%s", name, value);
	UNIT_INT(_putenv(pair), 0);
}

static void write_answer(const char *answer)
{
	UNIT_INT(file_write_atomic(answer_path, answer, strlen(answer), 0644, NULL), 0);
}

static void expect(int code, const char *text)
{
	struct hcs_service service = {0};
	struct error err = {0};
	UNIT_INT(hcs_service_ask(&service, &err), code);
	UNIT_CONTAINS(err.text, text);
}

static void test_no_library(void)
{
	expect(ERROR_UNSUPPORTED, "neither computecore.dll nor vmcompute.dll");
}

static void test_older_library(void)
{
	struct hcs_service service = {0};
	load(DOUBLE_DIRECTORY "/vmcompute.dll");
	write_answer(ANSWER_OF("1"));
	UNIT_INT(hcs_service_ask(&service, NULL), 0);
	UNIT_STRING(service.library, "vmcompute.dll");
	UNIT_INT(hcs_versions_newest(&service.versions)->minor, 1);
}

static void test_newer_library(void)
{
	struct hcs_service service = {0};
	load(DOUBLE_DIRECTORY "/computecore.dll");
	write_answer(ANSWER_OF("5"));
	UNIT_INT(hcs_service_ask(&service, NULL), 0);
	UNIT_STRING(service.library, "computecore.dll");
	UNIT_INT(hcs_versions_newest(&service.versions)->minor, 5);
}

static void test_bad_answers(void)
{
	write_answer("{\"Properties\":[{\"Supp");
	expect(ERROR_FORMAT, "answer of HcsGetServiceProperties(): ");
	set("HCS_DOUBLE_ANSWER", "");
	expect(ERROR_UNAVAILABLE, "answered nothing");
	set("HCS_DOUBLE_ANSWER", answer_path);
}

static void test_errors_of_the_service(void)
{
	set("HCS_DOUBLE_ERROR", "0x80370114");
	expect(ERROR_UNSUPPORTED, "0x80370114 (HCS_E_SERVICE_NOT_AVAILABLE)");
	set("HCS_DOUBLE_ERROR", "0x8037011B");
	expect(ERROR_PERMISSION, "HCS_E_ACCESS_DENIED");
	set("HCS_DOUBLE_ERROR", "0x80004005");
	expect(ERROR_UNAVAILABLE, "0x80004005");
	set("HCS_DOUBLE_ERROR", "");
}

static int open_suite(void)
{
	answer_path = text_format("%s/hcs-answer.json", DOUBLE_DIRECTORY);
	if (answer_path == NULL)
		return 1;
	set("HCS_DOUBLE_ANSWER", answer_path);
	return 0;
}

static int close_suite(void)
{
	int rc = remove(answer_path);
	free(answer_path);
	return rc;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"no library", test_no_library},
		{"older library", test_older_library},
		{"newer library", test_newer_library},
		{"bad answers", test_bad_answers},
		{"errors of the service", test_errors_of_the_service},
		CU_TEST_INFO_NULL,
	};
	return unit_run_in("hcs service", open_suite, close_suite, tests);
}
