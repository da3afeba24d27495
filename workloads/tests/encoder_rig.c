/* SPDX-License-Identifier: MIT */
#include "workloads/tests/encoder_rig.h"

#include "base/text.h"

#include <signal.h>

static struct probe probe_with(const char *word, const char *option)
{
	struct probe probe = encoder_rig.probe;
	size_t count = 0;
	while (probe.env[count] != NULL)
		count++;
	CU_ASSERT_FATAL(count + 1 < ARRAY_SIZE(probe.env));
	probe.env[count] = word;
	probe.option = option != NULL ? option : probe.option;
	return probe;
}

static char *word_of(const char *settings)
{
	return text_format("GPUCERT_DOUBLE=%s%s", encoder_rig.always, settings);
}

struct process_result rig_start(const char *settings, const char *option)
{
	char *word CLEANUP_FREE = word_of(settings);
	const struct probe probe = probe_with(word, option);
	return probe_run(&probe);
}

cJSON *rig_run(const char *settings, const char *option)
{
	char *word CLEANUP_FREE = word_of(settings);
	const struct probe probe = probe_with(word, option);
	return probe_document(&probe);
}

void rig_expect_work(const char *settings, const char *option, const char *status,
		     const char *reason)
{
	cJSON *document CLEANUP_JSON = rig_run(settings, option);
	expect_string(document, "/api/status", "ok");
	expect_string(document, "/work/status", status);
	expect_bool(document, "/work/verified", false);
	UNIT_CONTAINS(string_at(document, "/work/reason"), reason);
}

void rig_expect_judgement(const char *settings, const char *status, const char *reason)
{
	cJSON *document CLEANUP_JSON = rig_run(settings, NULL);
	expect_judgement(document, status, reason);
}

void rig_expect_decoding_faults(void)
{
	rig_expect_judgement("repeat=4", "wrong", "frame 4 shows frame 3");
	rig_expect_judgement("black=4", "wrong", "frame 4 ");
	rig_expect_judgement("other=99", "wrong", "frame 0 ");

	/* OpenH264 mostly gives up, but sometimes returns a picture: it seems to read memory that it did not set. */
	cJSON *document CLEANUP_JSON = rig_run("corrupt=4", NULL);
	cJSON *judgement CLEANUP_JSON = judge_stream(document, NULL);
	const char *status = string_at(judgement, "/status");
	CU_ASSERT_TRUE(text_equal(status, "undecodable") || text_equal(status, "wrong"));
}

static void expect_failure(const struct rig_failure *row)
{
	char *settings CLEANUP_FREE = text_format("fail=%s:%d", row->call, row->code);
	char *method CLEANUP_FREE = text_format("::%s", row->call);
	cJSON *document CLEANUP_JSON = rig_run(settings, NULL);
	const char *call = string_at(document, "/work/error/call");
	const char *reason = string_at(document, "/work/reason");
	const char *name = cJSON_GetStringValue(json_pointer(document, "/work/error/name"));
	expect_string(document, "/work/status", "failed");
	CU_ASSERT_TRUE(text_equal(call, row->call) || text_ends_with(call, method));
	expect_number(document, "/work/error/code", row->code);
	UNIT_CONTAINS(reason, call);
	UNIT_CONTAINS(reason, row->reason);
	UNIT_CONTAINS(reason, name != NULL ? name : "unknown result");
}

void rig_expect_failures(const struct rig_failure *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect_failure(&rows[i]);
}

void rig_expect_crash(const char *settings)
{
	struct process_result result = rig_start(settings, NULL);
	UNIT_INT(result.end, PROCESS_SIGNALLED);
	UNIT_INT(result.code, SIGSEGV);
	UNIT_INT(result.out.size, 0);
	process_result_free(&result);
}

int rig_main(const char *suite, const char *documents, CU_TestInfo *tests)
{
	int code = probe_documents_open(documents);
	if (code == 0)
		code = unit_run(suite, tests);
	return code != 0 ? code : probe_documents_close();
}
