/* SPDX-License-Identifier: MIT */
/* Host files over arbitrary bytes: an accepted host can be written and read again, and every rule
 * gives a reason for its answer. */
#include "base/cleanup.h"
#include "base/json.h"
#include "containers/judging/compat/rules.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check(const struct host_facts *host, const char *os)
{
	struct json_pair variables[] = {{"CUDA_VERSION", "12.4.1"},
					{"NVIDIA_REQUIRE_CUDA", "cuda>=12.4 brand=tesla"},
					{"ROCM_VERSION", "6.1"},
					{"PYTORCH_ROCM_ARCH", "gfx90a"}};
	const struct image image = {.reference = "x",
				    .digest = "",
				    .platform = {os, "amd64", "v3", "10.0.20348.1"},
				    .environment = variables,
				    .environment_count = ARRAY_SIZE(variables)};
	const struct compat_options options = {.device = "vpci-location-path://x"};
	struct compat_answer answer CLEANUP_COMPAT_ANSWER = {0};
	compat_check(&image, NULL, host, &options, &answer);
	for (size_t i = 0; i < answer.count; i++)
		require(answer.findings[i].reason[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct host_facts again CLEANUP_HOST_FACTS = {0};
	struct error err = {0};
	int rc = host_facts_parse((const char *)data, size, &host, &err);
	require(rc == 0 || (rc == err.code && err.text[0] != '\0'));
	if (rc < 0)
		return 0;
	cJSON *json CLEANUP_JSON = host_facts_to_json(&host);
	char *text CLEANUP_FREE = json_print(json);
	require(text != NULL);
	require(host_facts_parse(text, strlen(text), &again, &err) == 0);
	require(again.gpu_count == host.gpu_count);
	check(&host, "linux");
	check(&host, "windows");
	return 0;
}
