/* SPDX-License-Identifier: MIT */
/* Catalogues over arbitrary bytes: an accepted one is ranked, with each image once, twice in the same order,
 * and with a reason for each but the first. */
#include "base/cleanup.h"
#include "containers/judging/selection/selection.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void rank(const struct catalogue *catalogue, const char *host_file)
{
	static const struct compat_options options = {0};
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct selection one CLEANUP_SELECTION = {0};
	struct selection two CLEANUP_SELECTION = {0};
	struct text text CLEANUP_TEXT = {0};
	require(host_facts_parse(host_file, strlen(host_file), &host, NULL) == 0);
	selection_make(catalogue, &host, &options, &one);
	selection_make(catalogue, &host, &options, &two);
	require(one.count == catalogue->count);
	for (size_t i = 0; i < one.count; i++) {
		require(one.items[i].entry == two.items[i].entry);
		require(i == 0 || one.items[i].verdict >= one.items[i - 1].verdict);
		require(i == 0 || one.items[i].reason[0] != '\0');
	}
	selection_print(&one, false, &text);
	cJSON *json CLEANUP_JSON = selection_to_json(&one, "catalogue");
	require(json != NULL && !text.failed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct catalogue catalogue CLEANUP_CATALOGUE = {0};
	struct error err = {0};
	int rc = catalogue_parse((const char *)data, size, &catalogue, &err);
	require(rc == 0 || (rc == err.code && err.text[0] != '\0'));
	if (rc < 0)
		return 0;
	rank(&catalogue,
	     "{\"schema\":\"gpucert-host/1\",\"os\":\"linux\",\"architecture\":\"amd64\",\"cpuLevel\":3,"
	     "\"gpus\":[{\"vendor\":\"nvidia\",\"name\":\"NVIDIA H200\",\"driver\":\"nvidia\","
	     "\"driverVersion\":\"550.54.15\",\"computeCapability\":\"9.0\"},{\"vendor\":\"amd\","
	     "\"driver\":\"amdgpu\",\"driverVersion\":\"6.8.5\",\"architecture\":\"gfx90a\"}]}");
	rank(&catalogue,
	     "{\"schema\":\"gpucert-host/1\",\"os\":\"windows\",\"architecture\":\"amd64\","
	     "\"windows\":{\"version\":\"10.0.20348.2582\"}}");
	return 0;
}
