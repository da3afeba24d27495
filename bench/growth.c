/* SPDX-License-Identifier: MIT */
#include "bench/figures.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/process.h"

#include <string.h>

enum { SMALL = 10000, LARGE = 10 * SMALL };
static const double LARGE_BY_SMALL_MOST = 15;

struct growth {
	const char *what;
	const char *check;
	char *(*plugin)(int count); /* the script of a scripted plugin */
};

static char *plugin_of_mounts(int count)
{
	struct text script CLEANUP_TEXT = {0};
	text_add(&script,
		 "{\"plugins\":[{\"resource\":\"example.com/gpu\",\"devices\":[{\"id\":\"gpu\"}],"
		 "\"allocate\":{\"once\":{\"mounts\":[");
	for (int i = 0; i < count; i++)
		text_addf(
			&script,
			"%s{\"container_path\":\"/m/%d\",\"host_path\":\"/etc/hosts\",\"read_only\":true}",
			i != 0 ? "," : "", i);
	text_add(&script, "]}}}]}");
	return text_take(&script);
}

static char *plugin_of_ids(int count)
{
	return text_format("{\"plugins\":[{\"resource\":\"example.com/gpu\",\"device_count\":%d,"
			   "\"device_prefix\":\"gpu\",\"devices\":[]}]}",
			   count);
}

static const struct growth growths[] = {
	{"allocate.read-only, 100,000 mounts / 10,000", "allocate.read-only", plugin_of_mounts},
	{"list-and-watch.ids, 100,000 ids / 10,000", "list-and-watch.ids", plugin_of_ids},
	{"allocate.each-and-all, 100,000 ids / 10,000", "allocate.each-and-all", plugin_of_ids},
};

/* Runs one check. Milliseconds of it outside of every phase. */
static int own_time(const struct growth *growth, int count, double *ms, struct error *err)
{
	char *directory CLEANUP_FREE = NULL;
	cJSON *report CLEANUP_JSON = NULL;
	struct process_result result = {0};

	int rc = file_make_temporary("/tmp", "gpucert-bench-", &directory, err);
	if (rc != 0)
		return rc;
	char *script CLEANUP_FREE = growth->plugin(count);
	char *script_path CLEANUP_FREE = path_join(directory, "script.json");
	char *report_path CLEANUP_FREE = path_join(directory, "report.json");
	char *plugin CLEANUP_FREE = text_format(
		"'" GPUCERT_BINARY_DIR "/tests/scripted-plugin' '%s' {plugin-dir}", script_path);
	const char *const argv[] = {GPUCERT_BINARY_DIR "/bin/gpucert",
				    "run",
				    "--quiet",
				    "--launcher",
				    "process",
				    "--out",
				    directory,
				    "--plugin",
				    plugin,
				    growth->check,
				    NULL};
	const struct process_spec spec = {.argv = argv};
	rc = file_write_atomic(script_path, script, strlen(script), 0600, err);
	if (rc == 0)
		rc = process_run(&spec, &result, err);
	process_result_free(&result);
	if (rc == 0)
		rc = json_read_file(report_path, &report, err);
	(void)file_remove_tree(directory, NULL);
	if (rc != 0)
		return rc;

	const cJSON *duration = json_pointer(report, "/checks/0/time/durationMs");
	const cJSON *phase = NULL;
	if (!cJSON_IsNumber(duration))
		return error_set(err, ERROR_FORMAT, "the check did not run");
	*ms = duration->valuedouble;
	cJSON_ArrayForEach (phase, json_pointer(report, "/checks/0/time/phasesMs"))
		*ms -= phase->valuedouble;
	return 0;
}

int growth_measure(struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(growths); i++) {
		double small = 0;
		double large = 0;
		int rc = own_time(&growths[i], SMALL, &small, err);
		if (rc == 0)
			rc = own_time(&growths[i], LARGE, &large, err);
		if (rc != 0)
			return rc;
		table_row(growths[i].what, large / small, "x", LARGE_BY_SMALL_MOST);
	}
	return 0;
}
