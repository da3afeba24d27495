/* SPDX-License-Identifier: MIT */
#include "conformance/checks/document.h"

#include "base/json.h"
#include "base/text.h"
#include "workloads/common/reference.h"

#include <stdio.h>
#include <string.h>
#include <uv.h>

enum { ELEMENTS_MAX = 1 << 26 };

int document_new_launch(const char *probe, struct document_launch *out, struct error *err)
{
	unsigned char bytes[(DOCUMENT_NONCE_SIZE - 1) / 2] = {0};
	uint32_t seed = 0;
	int rc = uv_random(NULL, NULL, bytes, sizeof(bytes), 0, NULL);

	rc = rc == 0 ? uv_random(NULL, NULL, &seed, sizeof(seed), 0, NULL) : rc;
	if (rc < 0)
		return error_uv(err, rc, "random bytes");
	*out = (struct document_launch){.probe = probe, .seed = seed != 0 ? seed : 1};
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(out->nonce + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static bool document_expect_text(struct check_run *run, const char *label, const cJSON *document,
				 const char *pointer, const char *wanted)
{
	char *what CLEANUP_FREE = text_format("%s: %s", label, pointer);
	const char *saw = cJSON_GetStringValue(json_pointer(document, pointer));

	return check_expect_text(run, what != NULL ? what : pointer, saw, wanted);
}

static bool document_expect_random(struct check_run *run, const char *label, const cJSON *document,
				   const char *pointer, const char *wanted)
{
	char *what CLEANUP_FREE = text_format("%s: %s", label, pointer);
	const char *saw = cJSON_GetStringValue(json_pointer(document, pointer));

	return check_expect_random(run, what != NULL ? what : pointer, saw, wanted);
}

/* What was read back is what only the work on this launch's input makes. */
static bool document_expect_digest(struct check_run *run, const char *label, const cJSON *document,
				   const char *array, const struct document_launch *launch)
{
	const cJSON *elements = json_pointer(document, "/work/elements");
	char *pointer CLEANUP_FREE = text_format("/work/digests/%s", array);
	char wanted[DIGEST_SIZE] = "";
	struct error err = {0};

	if (pointer == NULL) {
		check_broken(run, "out of memory");
		return false;
	}
	if (!cJSON_IsNumber(elements) || elements->valuedouble < 1 ||
	    elements->valuedouble > ELEMENTS_MAX)
		return check_expect(run, false, "/work/elements", "a number of elements",
				    "something else");
	if (work_expected_digest(array, launch->seed, (size_t)elements->valuedouble, wanted, &err) <
	    0) {
		check_broken(run, "%s", err.text);
		return false;
	}
	return document_expect_random(run, label, document, pointer, wanted);
}

static bool document_expect_seed(struct check_run *run, const cJSON *document,
				 const struct document_launch *launch)
{
	const cJSON *seed = json_pointer(document, "/work/seed");
	char *saw CLEANUP_FREE = text_format("%.0f", cJSON_IsNumber(seed) ? seed->valuedouble : 0);
	char *wanted CLEANUP_FREE = text_format("%llu", (unsigned long long)launch->seed);

	if (saw != NULL && wanted != NULL)
		return check_expect_random(run, "/work/seed", saw, wanted);
	check_broken(run, "out of memory");
	return false;
}

static bool document_expect_work(struct check_run *run, const char *label, const cJSON *document,
				 const struct document_launch *launch)
{
	static const char *const numbers[] = {"values", "y"};
	static const char *const tensors[] = {"sum", "product"};
	const char *const *arrays =
		strcmp(launch->probe, "probe-directml") == 0 ? tensors : numbers;
	bool held = document_expect_seed(run, document, launch);

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		held = document_expect_digest(run, label, document, arrays[i], launch) && held;
	if (cJSON_IsObject(json_pointer(document, "/work/render")))
		held = document_expect_digest(run, label, document, "pixels", launch) && held;
	return held;
}

bool document_expect_launch(struct check_run *run, const char *label, const cJSON *document,
			    const struct document_launch *launch)
{
	const char *api = launch->probe + strlen("probe-");
	const char *status = cJSON_GetStringValue(json_pointer(document, "/work/status"));
	bool held = document_expect_text(run, label, document, "/schema", "gpucert-probe/1");

	held = document_expect_text(run, label, document, "/probe", api) && held;
	held = document_expect_text(run, label, document, "/version", GPUCERT_VERSION) && held;
	held = document_expect_random(run, label, document, "/nonce", launch->nonce) && held;
	if (held && text_equal(status, "ok"))
		held = document_expect_work(run, label, document, launch);
	return held;
}
