/* SPDX-License-Identifier: MIT */
#include "workloads/tests/with_double.h"

#include "base/tests/unit.h"
#include "workloads/common/reference.h"
#include "workloads/tests/expect.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <signal.h>

/* `word`: the setting, behind the others. */
static struct probe with_word(const struct probe *probe, const char *word)
{
	struct probe out = *probe;
	size_t i = 0;
	while (out.env[i] != NULL)
		i++;
	CU_ASSERT_FATAL(i + 1 < ARRAY_SIZE(out.env));
	out.env[i] = word;
	return out;
}

cJSON *probe_with(const struct probe *probe, const char *settings, const char *option)
{
	char *word CLEANUP_FREE = text_format("GPUCERT_DOUBLE=%s", settings);
	struct probe with = with_word(probe, word);
	with.option = option;
	return probe_document(&with);
}

void expect_digests(const cJSON *document, const char *const *arrays)
{
	expect_string(document, "/api/status", "ok");
	expect_string(document, "/work/status", "ok");
	expect_bool(document, "/work/verified", true);
	expect_number(document, "/work/elements", 1 << 20);
	for (size_t i = 0; arrays[i] != NULL; i++) {
		char *pointer CLEANUP_FREE = text_format("/work/digests/%s", arrays[i]);
		char digest[DIGEST_SIZE] = "";
		UNIT_INT(work_expected_digest(arrays[i], UINT32_MAX, 1 << 20, digest, NULL), 0);
		expect_string(document, pointer, digest);
	}
}

static void expect_failing_call(const cJSON *document, const struct failing_call *failing)
{
	const char *reason = failing->stage != NULL ? "/work/reason" : "/api/reason";
	const char *name = failing->name != NULL ? failing->name : "unknown result";
	char *text CLEANUP_FREE = text_format("%s: %s (%d)%s", failing->call, name, failing->code,
					      failing->advised ? ": " : "");
	expect_string(document, "/api/status", failing->stage != NULL ? "ok" : "failed");
	if (failing->advised)
		expect_begins(document, reason, text);
	else
		expect_string(document, reason, text);
	if (failing->stage == NULL) {
		expect_null(document, "/work");
		return;
	}
	expect_string(document, "/work/status", "failed");
	expect_string(document, "/work/stage", failing->stage);
	expect_bool(document, "/work/verified", false);
	expect_string(document, "/work/error/call", failing->call);
	expect_number(document, "/work/error/code", failing->code);
	if (failing->name != NULL)
		expect_string(document, "/work/error/name", failing->name);
	else
		expect_null(document, "/work/error/name");
}

void expect_failing_calls(const struct probe *probe, const struct failing_call *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *settings CLEANUP_FREE =
			text_format("fail=%s:%d", calls[i].call, calls[i].code);
		cJSON *document CLEANUP_JSON = probe_with(probe, settings, "--size=5000");
		expect_failing_call(document, &calls[i]);
	}
}

void expect_wrong_results(const struct probe *probe, const struct wrong_result *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		cJSON *document CLEANUP_JSON = probe_with(probe, cases[i].settings, "--size=5000");
		expect_string(document, "/work/status", "wrong");
		expect_bool(document, "/work/verified", false);
		expect_null(document, "/work/error");
		expect_string(document, "/work/firstMismatch/array", cases[i].array);
		expect_number(document, "/work/firstMismatch/index", cases[i].first);
		expect_bool(document, "/work/firstMismatch/guard", cases[i].guard);
	}
}

void expect_selection(const struct probe *probe)
{
	cJSON *second CLEANUP_JSON = probe_with(probe, "devices=2", "--device=1");
	cJSON *third CLEANUP_JSON = probe_with(probe, "devices=2", "--device=2");
	expect_number(second, "/work/device", 1);
	expect_string(second, "/work/status", "ok");
	expect_string(third, "/work/status", "unsupported");
	expect_string(third, "/work/stage", "select");
	expect_string(third, "/work/reason", "there is no device 2: the devices are 0 to 1");
}

void expect_timeout(const struct probe *probe, const char *stage)
{
	cJSON *document CLEANUP_JSON = probe_with(probe, "hang", "--timeout=20");
	expect_string(document, "/work/status", "timeout");
	expect_string(document, "/work/stage", stage);
	expect_contains(document, "/work/reason", "within 20 ms");
}

void expect_crash(const struct probe *probe, const char *call)
{
	char *word CLEANUP_FREE = text_format("GPUCERT_DOUBLE=crash=%s", call);
	const struct probe crashing = with_word(probe, word);
	struct process_result result = probe_run(&crashing);
	UNIT_INT(result.end, PROCESS_SIGNALLED);
	UNIT_INT(result.code, SIGSEGV);
	UNIT_INT(result.out.size, 0);
	process_result_free(&result);
}
