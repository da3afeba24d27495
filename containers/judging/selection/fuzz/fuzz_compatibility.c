/* SPDX-License-Identifier: MIT */
/* Compatibility artifacts over arbitrary bytes: an answer with a reason, the same twice, or an error. */
#include "base/cleanup.h"
#include "containers/judging/selection/compatibility.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static int judge(const cJSON *document, const char *host_file, enum compat_verdict *verdict)
{
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct features features CLEANUP_FEATURES = {0};
	struct arena arena __attribute__((cleanup(arena_free))) = {0};
	struct compatibility_answer answer = {COMPAT_HYPERV, ""};
	struct error err = {0};
	require(host_facts_parse(host_file, strlen(host_file), &host, NULL) == 0);
	features_of_host(&host, &features);
	int rc = compatibility_judge(document, &features, &arena, &answer, &err);
	require(rc == 0 || (rc == err.code && err.text[0] != '\0'));
	require(rc < 0 || (answer.verdict != COMPAT_HYPERV && answer.reason[0] != '\0'));
	*verdict = answer.verdict;
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cJSON *document CLEANUP_JSON = NULL;
	struct error err = {0};
	enum compat_verdict one = COMPAT_WORKS;
	enum compat_verdict two = COMPAT_WORKS;
	int rc = compatibility_parse((const char *)data, size, &document, &err);
	require(rc == 0 || (rc == err.code && err.text[0] != '\0'));
	if (rc < 0)
		return 0;
	static const char full[] =
		"{\"schema\":\"gpucert-host/1\",\"os\":\"linux\",\"architecture\":\"amd64\","
		"\"cpuLevel\":4,\"kernel\":\"6.8.0\",\"modules\":[\"nvidia\"],\"pci\":["
		"{\"class\":\"0302\",\"vendor\":\"10de\",\"device\":\"2335\"}],\"gpus\":["
		"{\"vendor\":\"nvidia\",\"driver\":\"nvidia\",\"driverVersion\":\"550.54.15\"}]}";
	rc = judge(document, full, &one);
	require(judge(document, full, &two) == rc && one == two);
	(void)judge(document, "{\"schema\":\"gpucert-host/1\",\"os\":\"windows\"}", &two);
	return 0;
}
