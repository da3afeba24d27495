/* SPDX-License-Identifier: MIT */

/* OpenGL where nothing can show a window: that is told, and is no missing driver. */

#include "base/tests/unit.h"
#include "workloads/tests/expect.h"
#include "workloads/tests/run_probe.h"

#include "base/cleanup.h"

static void test_no_window_station(void)
{
	const struct probe probe = {.program = "probe-opengl"};
	expect_unsupported(&probe, "window station");
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	UNIT_CONTAINS(string_at(document, "/api/reason"), "error 1400");
	UNIT_CONTAINS(string_at(document, "/api/loader/path"), "opengl32.dll");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"no window station", test_no_window_station},
		CU_TEST_INFO_NULL,
	};
	int code = probe_documents_open("headless-probe-documents.ndjson");
	if (code == 0)
		code = unit_run("headless", tests);
	return code == 0 ? probe_documents_close() : code;
}
