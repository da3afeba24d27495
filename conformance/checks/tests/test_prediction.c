/* SPDX-License-Identifier: MIT */
/* Prediction and outcome: when they agree, when a rule is wrong, and when neither can be told. */
#include "base/tests/unit.h"
#include "conformance/checks/prediction.h"

static struct compat_finding finding(enum compat_verdict verdict, const char *rule)
{
	return (struct compat_finding){verdict, rule, "", "", ""};
}

static void expect(struct compat_finding first, struct compat_finding second,
		   enum prediction_outcome outcome, const char *told, int agrees, const char *rule)
{
	struct compat_finding findings[] = {first, second};
	const struct compat_answer answer = {.findings = findings, .count = 2};
	const struct compat_finding *wrong = NULL;
	UNIT_INT(prediction_agrees(&answer, outcome, told, &wrong), agrees);
	UNIT_STRING(wrong != NULL ? wrong->rule : "", rule);
}

static void test_cannot_work(void)
{
	struct compat_finding works = finding(COMPAT_WORKS, "platform.architecture");
	struct compat_finding cannot = finding(COMPAT_CANNOT_WORK, "linux.driver-glibc");
	expect(works, cannot, PREDICTION_FAILED, "anything", 1, "");
	expect(works, cannot, PREDICTION_NOT_RUN, "exec format error", 1, "");
	expect(works, cannot, PREDICTION_WORKED, "", 0, "linux.driver-glibc");
	expect(works, cannot, PREDICTION_STOPPED, "", -1, "");
	expect(works, cannot, PREDICTION_NOT_LAUNCHED, "", -1, "");
}

static void test_works(void)
{
	struct compat_finding platform = finding(COMPAT_WORKS, "platform.architecture");
	struct compat_finding glibc = finding(COMPAT_WORKS, "linux.driver-glibc");
	expect(platform, glibc, PREDICTION_WORKED, "", 1, "");
	expect(platform, glibc, PREDICTION_FAILED, "the plugin forgot a file", -1, "");
	expect(platform, glibc, PREDICTION_FAILED, "version `GLIBC_2.38' not found", 0,
	       "linux.driver-glibc");
	expect(platform, glibc, PREDICTION_NOT_RUN, "exec format error", 0,
	       "platform.architecture");
	expect(platform, glibc, PREDICTION_NOT_RUN, "killed by signal 9", -1, "");
}

static void test_unknown(void)
{
	struct compat_finding works = finding(COMPAT_WORKS, "platform.architecture");
	struct compat_finding unknown = finding(COMPAT_UNKNOWN, "linux.driver-library");
	expect(works, unknown, PREDICTION_WORKED, "", -1, "");
	expect(works, unknown, PREDICTION_FAILED, "", -1, "");
}

static void test_runtimes(void)
{
	UNIT_INT(facts_runtime("containerd", "1.6.20~ds1"), COMPAT_CONTAINERD_17);
	UNIT_INT(facts_runtime("containerd", "v1.7.24"), COMPAT_CONTAINERD_17);
	UNIT_INT(facts_runtime("containerd", "v2.0.0-rc.1"), COMPAT_CONTAINERD_20);
	UNIT_INT(facts_runtime("containerd", "2.1.4"), COMPAT_CONTAINERD_20);
	UNIT_INT(facts_runtime("containerd", "2.2.0"), COMPAT_CONTAINERD_2X);
	UNIT_INT(facts_runtime("cri-o", "1.30"), COMPAT_RUNTIME_ANY);
}

UNIT_MAIN("prediction and outcome", {"cannot work", test_cannot_work}, {"works", test_works},
	  {"cannot be told", test_unknown}, {"runtimes", test_runtimes})
