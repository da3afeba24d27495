/* SPDX-License-Identifier: MIT */
/*
 * Times discovery of the live system, where the devices of a recorded node were planted with 64
 * runtime files each, and a double of DXCore lists their adapters. Only under Wine.
 * usage: bench_discovery NODE DXCORE: prints the median time of a snapshot in milliseconds
 */
#include "base/clock.h"
#include "base/library.h"
#include "base/text.h"
#include "bench/figures.h"
#include "discovery/tests/windows/plant.h"

#include <stdio.h>

enum { DEVICES = 4, FILES = 64, ROUNDS = 31 };

static int plant_with_files(const struct discovery_device *recorded)
{
	struct discovery_file files[FILES] = {0};
	char sources[FILES][512];
	char destinations[FILES][64];
	struct discovery_device device = *recorded;
	for (unsigned i = 0; i < FILES; i++) {
		(void)snprintf(sources[i], sizeof(sources[i]), "%s\\driver%02u_64.dll",
			       device.driver_store_path, i);
		(void)snprintf(destinations[i], sizeof(destinations[i]),
			       "C:\\Windows\\System32\\driver%02u.dll", i);
		files[i] = (struct discovery_file){
			.source = sources[i],
			.destination = destinations[i],
			.bits = 64,
			.origin = "CopyToVmWhenNewer",
		};
	}
	device.files = files;
	device.file_count = FILES;
	return plant_device(&device);
}

static int plant_node(const char *node, struct error *err)
{
	const struct discovery_options options = {.recorded_node = node};
	struct discovery_snapshot *recorded = NULL;
	int rc = discovery_take(&options, &recorded, err);
	if (rc < 0)
		return rc;
	if (recorded->device_count != DEVICES)
		rc = error_set(err, ERROR_FORMAT, "%s: %zu devices instead of %d", node,
			       recorded->device_count, (int)DEVICES);
	for (size_t i = 0; rc == 0 && i < recorded->device_count; i++) {
		if (plant_with_files(&recorded->devices[i]) < 0)
			rc = error_set(err, ERROR_IO, "%s", recorded->devices[i].id);
	}
	discovery_free(recorded);
	return rc;
}

static int take_once(struct samples *samples, struct error *err)
{
	struct discovery_snapshot *snapshot = NULL;
	uint64_t begin = clock_monotonic_ns();
	int rc = discovery_take(NULL, &snapshot, err);
	samples_add(samples, clock_monotonic_ns() - begin);
	if (rc < 0)
		return rc;
	size_t whole = 0;
	for (size_t i = 0; i < snapshot->device_count; i++)
		whole += snapshot->devices[i].file_count == FILES ? 1 : 0;
	if (whole != DEVICES || !text_equal(snapshot->system.enumerator, "dxcore"))
		rc = error_set(err, ERROR_FORMAT, "%zu devices with %d files, listed by \"%s\"",
			       whole, (int)FILES, snapshot->system.enumerator);
	discovery_free(snapshot);
	return rc;
}

int main(int argc, char **argv)
{
	struct samples samples CLEANUP_SAMPLES = {0};
	struct error err = {0};
	int (*load)(const char *recorded_node) = NULL;
	void *handle = NULL;

	if (argc != 3) {
		(void)fprintf(stderr, "usage: bench_discovery NODE DXCORE\n");
		return 2;
	}
	if (!plant_is_allowed())
		return 77;
	samples_reserve(&samples, ROUNDS);
	int rc = plant_node(argv[1], &err);
	if (rc == 0)
		rc = library_open(argv[2], &handle, &err);
	if (rc == 0)
		rc = library_function(handle, "dxcore_double_load", &load, &err);
	if (rc == 0 && load(argv[1]) != 0)
		rc = error_set(&err, ERROR_FORMAT, "%s refuses %s", argv[2], argv[1]);
	for (int i = 0; rc == 0 && i < ROUNDS; i++)
		rc = take_once(&samples, &err);
	if (rc < 0) {
		(void)fprintf(stderr, "bench_discovery: %s\n", err.text);
		return 1;
	}
	(void)printf("%.3f\n", samples_percentile_us(&samples, 50) / 1000);
	return 0;
}
