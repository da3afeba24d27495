/* SPDX-License-Identifier: MIT */
#include "bench/figures.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FEW = 1000, MANY = 10 * FEW, CHECKS = 200, DRIVERS = 40, BUILDS = 12 };
static const double SECONDS_MOST = 10, MEGABYTES_MOST = 300, MANY_BY_FEW_MOST = 15,
		    PARSER_MOST = 0.75, FLEET_SECONDS_MOST = 20, FLEET_MEGABYTES_MOST = 256;

/* Placeholders of the template for values that differ between reports. */
#define DIGEST	 "@DIGEST@"
#define VERSION	 "@VERSION@"
#define REVISION "@REVISION@"

/* A program's run, or this program's own work. */
struct usage {
	double seconds, processor; /* seconds */
	double megabytes;	   /* at its peak */
};

static double now(void)
{
	struct timespec time = {0};
	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct usage usage_since(double start, const struct rusage *of)
{
	const struct timeval user = of->ru_utime, system = of->ru_stime;
	return (struct usage){.seconds = now() - start,
			      .processor = (double)(user.tv_sec + system.tv_sec) +
					   (double)(user.tv_usec + system.tv_usec) / 1e6,
			      .megabytes = (double)of->ru_maxrss / 1024};
}

/* Discards what `gpucert COMMAND...` prints about all reports below the folder, the last of the words. */
static int run_gpucert(const char *const *words, struct usage *out, struct error *err)
{
	static const char program[] = GPUCERT_BINARY_DIR "/bin/gpucert";
	struct rusage used = {0};
	int status = 0;
	const double start = now();
	const pid_t child = fork();
	if (child == 0) {
		const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0)
			(void)execv(program, (char *const *)(uintptr_t)words);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0)
		return error_set(err, ERROR_IO, "gpucert %s: it does not work", words[1]);
	*out = usage_since(start, &used);
	return 0;
}

/* The work of a program that only parses. */
static int parse_all(const char *folder, int count, struct usage *out, struct error *err)
{
	struct rusage before = {0};
	struct rusage after = {0};
	const double start = now();
	int rc = 0;

	(void)getrusage(RUSAGE_SELF, &before);
	for (int i = 0; rc == 0 && i < count; i++) {
		char *path CLEANUP_FREE = text_format("%s/%d/report.json", folder, i);
		char *data CLEANUP_FREE = NULL;
		size_t size = 0;
		rc = file_read(path, JSON_FILE_MAX, &data, &size, err);
		cJSON *json CLEANUP_JSON = rc == 0 ? cJSON_ParseWithLength(data, size) : NULL;
		if (rc == 0 && json == NULL)
			rc = error_set(err, ERROR_FORMAT, "%s: the parser refuses it", path);
	}
	(void)getrusage(RUSAGE_SELF, &after);
	*out = usage_since(start, &after);
	out->processor -= usage_since(start, &before).processor;
	return rc;
}

static void replace(cJSON *report, const char *parent, const char *key, const char *value)
{
	cJSON *object = (cJSON *)(uintptr_t)json_pointer(report, parent);
	cJSON_DeleteItemFromObject(object, key);
	(void)cJSON_AddStringToObject(object, key, value);
}

/* The report of a recorded node, with as many checks as a large suite has: its own, repeated under other
 * names. */
static int make_template(const char *folder, char **out, struct error *err)
{
	char *run CLEANUP_FREE = path_join(folder, "run");
	char *path CLEANUP_FREE = path_join(run, "report.json");
	const char *const argv[] = {GPUCERT_BINARY_DIR "/bin/gpucert",
				    "run",
				    "--quiet",
				    "--launcher",
				    "process",
				    "--node",
				    GPUCERT_SOURCE_DIR "/discovery/nodes/windows-mixed.json",
				    "--out",
				    run,
				    "-x",
				    "restart",
				    NULL};
	const struct process_spec spec = {.argv = argv};
	struct process_result result = {0};
	cJSON *report CLEANUP_JSON = NULL;

	int rc = process_run(&spec, &result, err);
	process_result_free(&result);
	if (rc == 0)
		rc = json_read_file(path, &report, err);
	if (rc < 0)
		return rc;

	cJSON *checks = cJSON_GetObjectItem(report, "checks");
	const int own = cJSON_GetArraySize(checks);
	for (int i = own; i < CHECKS; i++) {
		char *id CLEANUP_FREE = text_format("suite.check-%d", i);
		cJSON *check = cJSON_Duplicate(cJSON_GetArrayItem(checks, i % own), true);
		(void)cJSON_AddItemToArray(checks, check);
		replace(check, "", "id", id);
	}
	replace(report, "/environment/node", "kind", "live");
	replace(report, "/run/journal", "digest", DIGEST);
	replace(report, "/environment/drivers/0", "version", VERSION);
	replace(report, "/environment/os", "revision", REVISION);
	*out = json_print(report);
	return 0;
}

/* Writes the template with a report's own values. */
static int write_report(const char *template, const char *folder, int number, struct error *err)
{
	char *own CLEANUP_FREE = text_format("%s/%d", folder, number);
	char *path CLEANUP_FREE = path_join(own, "report.json");
	struct text text CLEANUP_TEXT = {0};

	for (const char *at = template; *at != '\0';) {
		const size_t plain = strcspn(at, "@");
		text_append(&text, at, plain);
		at += plain;
		if (text_starts_with(at, DIGEST)) {
			text_addf(&text, "sha256:%064d", number);
			at += strlen(DIGEST);
		} else if (text_starts_with(at, VERSION)) {
			text_addf(&text, "31.0.15.%d", 5000 + number % DRIVERS);
			at += strlen(VERSION);
		} else if (text_starts_with(at, REVISION)) {
			text_addf(&text, "%d", 1500 + number / DRIVERS % BUILDS);
			at += strlen(REVISION);
		} else if (*at != '\0') {
			text_append(&text, at++, 1);
		}
	}

	int rc = file_make_directories(own, 0755, err);
	if (rc < 0)
		return rc;
	int fd CLEANUP_FD = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || !file_write_all(fd, text.data, text.size))
		return error_system(err, errno, "%s", path);
	return 0;
}

static int measure_in(const char *folder, const char *template, struct error *err)
{
	char *few CLEANUP_FREE = path_join(folder, "few");
	char *many CLEANUP_FREE = path_join(folder, "many");
	struct usage small = {0}, large = {0}, fleet = {0}, parser = {0};
	int rc = 0;

	for (int i = 0; rc == 0 && i < FEW; i++)
		rc = write_report(template, few, i, err);
	if (rc == 0)
		rc = parse_all(few, FEW, &parser, err);
	if (rc == 0)
		rc = run_gpucert((const char *const[]){"gpucert", "matrix", few, NULL}, &small,
				 err);
	for (int i = 0; rc == 0 && i < MANY; i++)
		rc = write_report(template, many, i, err);
	if (rc == 0)
		rc = run_gpucert((const char *const[]){"gpucert", "matrix", many, NULL}, &large,
				 err);
	if (rc == 0)
		rc = run_gpucert((const char *const[]){"gpucert", "fleet", "merge", many, NULL},
				 &fleet, err);
	if (rc < 0)
		return rc;
	table_row("matrix, 10,000 reports of 200 checks", large.seconds, "s", SECONDS_MOST);
	table_row("matrix, 10,000 reports: time of processors", large.processor, "s", 0);
	table_row("matrix, 10,000 reports: memory at its peak", large.megabytes, "MB",
		  MEGABYTES_MOST);
	table_row("matrix, 10,000 reports / 1,000: time of processors",
		  large.processor / small.processor, "x", MANY_BY_FEW_MOST);
	table_row("fleet merge, 10,000 reports of 200 checks", fleet.seconds, "s",
		  FLEET_SECONDS_MOST);
	table_row("fleet merge, 10,000 reports: time of processors", fleet.processor, "s", 0);
	table_row("fleet merge, 10,000 reports: memory at its peak", fleet.megabytes, "MB",
		  FLEET_MEGABYTES_MOST);
	table_row("matrix, 1,000 reports / only the parser: processor time",
		  small.processor / parser.processor, "x", PARSER_MOST);
	return 0;
}

int matrix_measure(struct error *err)
{
	char *folder CLEANUP_FREE = NULL;
	char *template CLEANUP_FREE = NULL;
	struct statvfs space = {0};
	int rc = file_make_temporary("/tmp", "gpucert-bench-", &folder, err);
	if (rc == 0)
		rc = make_template(folder, &template, err);
	const double needed = template != NULL ? 1.2 * MANY * (double)strlen(template) : 0;
	if (rc == 0 && statvfs(folder, &space) == 0 &&
	    (double)space.f_bavail * (double)space.f_frsize < needed)
		table_missing("matrix, 10,000 reports of 200 checks", "/tmp has not enough space");
	else if (rc == 0)
		rc = measure_in(folder, template, err);
	if (folder != NULL)
		(void)file_remove_tree(folder, NULL);
	return rc;
}
