/* SPDX-License-Identifier: MIT */
#include "containers/judging/selection/selection.h"
#include "base/clock.h"
#include "bench/figures.h"

#include <string.h>

enum { IMAGES = 1000, TIMES = 21 };
static const double MS_MOST = 50;
static const char host_file[] =
	"{\"schema\":\"gpucert-host/1\",\"os\":\"linux\",\"architecture\":\"amd64\",\"cpuLevel\":3,"
	"\"gpus\":[{\"vendor\":\"nvidia\",\"name\":\"NVIDIA H200\",\"driver\":\"nvidia\","
	"\"driverVersion\":\"550.54.15\",\"computeCapability\":\"9.0\"}]}";

/* Images of all kinds, some of which do not work on the host. */
static void make_catalogue(struct text *out)
{
	static const char *const cuda[] = {"11.8", "12.4", "12.6", "13.0"};
	text_add(out, "{\"schema\":\"gpucert-catalogue/1\",\"images\":[");
	for (int i = 0; i < IMAGES; i++)
		text_addf(out,
			  "%s{\"reference\":\"registry.example/solver:%d\",\"platform\":{\"os\":"
			  "\"linux\",\"architecture\":\"amd64\",\"variant\":\"v%d\"},\"created\":"
			  "\"2026-10-%02d\",\"wants\":{\"cuda\":\"%s\",\"drivers\":{\"nvidia\":"
			  "\"5%d\"},\"computeCapabilities\":[\"8.0\",\"9.0\"]}}",
			  i == 0 ? "" : ",", i, 1 + i % 4, 1 + i % 28, cuda[i / 4 % 4],
			  20 + i % 60);
	text_add(out, "]}");
}

int selection_measure(struct error *err)
{
	static const struct compat_options options = {0};
	struct text file CLEANUP_TEXT = {0};
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct samples samples CLEANUP_SAMPLES = {0};
	make_catalogue(&file);
	samples_reserve(&samples, TIMES);
	int rc = host_facts_parse(host_file, strlen(host_file), &host, err);
	for (int i = 0; rc == 0 && i < TIMES; i++) {
		struct catalogue catalogue CLEANUP_CATALOGUE = {0};
		struct selection selection CLEANUP_SELECTION = {0};
		struct text out CLEANUP_TEXT = {0};
		/* From the file's text to the printed table. */
		const uint64_t start = clock_monotonic_ns();
		rc = catalogue_parse(text_string(&file), file.size, &catalogue, err);
		if (rc < 0)
			return rc;
		selection_make(&catalogue, &host, &options, &selection);
		selection_print(&selection, false, &out);
		if (selection.count != IMAGES)
			return error_set(err, ERROR_FORMAT, "%zu images instead of %d",
					 selection.count, IMAGES);
		samples_add(&samples, clock_monotonic_ns() - start);
	}
	if (rc == 0)
		table_row("image select among 1,000 images",
			  samples_percentile_us(&samples, 50) / 1000, "ms", MS_MOST);
	return rc;
}
