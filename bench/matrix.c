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
		    PARSER_MOST = 0.75;

/* What differs between reports stands in the template as these. */
#define DIGEST	 "@DIGEST@"
#define VERSION	 "@VERSION@"
#define REVISION "@REVISION@"

/* A program's run, or this program's own work. */
struct usage {
	double seconds, processor; /* seconds */
	double megabytes;	   /* at its peak */
};

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double now(void)
{
	struct timespec time = {0};
	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct usage usage_since(double start, const struct rusage *of)
{
	return (struct usage){.seconds = now() - start,
			      .processor = seconds_of(of->ru_utime) + seconds_of(of->ru_stime),
			      .megabytes = (double)of->ru_maxrss / 1024};
}

/* The table of all reports below the folder goes nowhere. */
static int run_matrix(const char *folder, struct usage *out, struct error *err)
{
	static const char program[] = GPUCERT_BINARY_DIR "/bin/gpucert";
	struct rusage used = {0};
	int status = 0;
	const double start = now();
	const pid_t child = fork();
	if (child == 0) {
		const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0)
			(void)execl(program, program, "matrix", folder, (char *)NULL);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0)
		return error_set(err, ERROR_IO, "gpucert matrix %s: it does not work", folder);
	*out = usage_since(start, &used);
	return 0;
}

/* As programs do that have no more than a parser. */
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
		rc = path != NULL ? file_read(path, JSON_FILE_MAX, &data, &size, err)
				  : error_memory(err);
		cJSON *json CLEANUP_JSON = rc == 0 ? cJSON_ParseWithLength(data, size) : NULL;
		if (rc == 0 && json == NULL)
			rc = error_set(err, ERROR_FORMAT, "%s: the parser does not take it", path);
	}
	(void)getrusage(RUSAGE_SELF, &after);
	*out = usage_since(start, &after);
	out->processor -= usage_since(start, &before).processor;
	return rc;
}

/* The report of a recorded node, with what it has. */
static int real_report(const char *folder, cJSON **out, struct error *err)
{
	const char *const argv[] = {GPUCERT_BINARY_DIR "/bin/gpucert",
				    "run",
				    "--quiet",
				    "--launcher",
				    "process",
				    "--node",
				    GPUCERT_SOURCE_DIR "/discovery/nodes/windows-mixed.json",
				    "--out",
				    folder,
				    "-x",
				    "restart",
				    NULL};
	const struct process_spec spec = {.argv = argv};
	struct process_result result = {0};
	char *path CLEANUP_FREE = path_join(folder, "report.json");
	int rc = path != NULL ? process_run(&spec, &result, err) : error_memory(err);
	process_result_free(&result);
	return rc == 0 ? json_read_file(path, out, err) : rc;
}

static void replace(cJSON *report, const char *parent, const char *key, const char *value)
{
	cJSON *object = (cJSON *)(uintptr_t)json_pointer(report, parent);
	cJSON_DeleteItemFromObject(object, key);
	(void)cJSON_AddStringToObject(object, key, value);
}

/* As many checks as a large suite has: those of the report again, under other names. */
static void add_checks(cJSON *checks)
{
	const int real = cJSON_GetArraySize(checks);
	for (int i = real; i < CHECKS; i++) {
		char *id CLEANUP_FREE = text_format("suite.check-%d", i);
		cJSON *check = cJSON_Duplicate(cJSON_GetArrayItem(checks, i % real), true);
		(void)cJSON_AddItemToArray(checks, check);
		replace(check, "", "id", id != NULL ? id : "");
	}
}

static int make_template(const char *folder, char **out, struct error *err)
{
	cJSON *report CLEANUP_JSON = NULL;
	char *run CLEANUP_FREE = path_join(folder, "run");
	int rc = run != NULL ? real_report(run, &report, err) : error_memory(err);
	if (rc < 0)
		return rc;
	add_checks(cJSON_GetObjectItem(report, "checks"));
	replace(report, "/run/journal", "digest", DIGEST);
	replace(report, "/environment/drivers/0", "version", VERSION);
	replace(report, "/environment/os", "revision", REVISION);
	*out = json_print(report);
	return *out != NULL ? 0 : error_memory(err);
}

/* Of a mark, of any other character, or of the end. */
static size_t mark_size(const char *at)
{
	static const char *const marks[] = {DIGEST, VERSION, REVISION};
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (text_starts_with(at, marks[i]))
			return strlen(marks[i]);
	}
	return *at != '\0';
}

/* The template with what differs. */
static int write_report(const char *template, const char *folder, int number, struct error *err)
{
	char *own CLEANUP_FREE = text_format("%s/%d", folder, number);
	char *path CLEANUP_FREE = text_format("%s/%d/report.json", folder, number);
	struct text text CLEANUP_TEXT = {0};
	for (const char *at = template; *at != '\0';) {
		const size_t plain = strcspn(at, "@");
		text_append(&text, at, plain);
		at += plain;
		if (text_starts_with(at, DIGEST))
			text_addf(&text, "sha256:%064d", number);
		else if (text_starts_with(at, VERSION))
			text_addf(&text, "31.0.15.%d", 5000 + number % DRIVERS);
		else if (text_starts_with(at, REVISION))
			text_addf(&text, "%d", 1500 + number / DRIVERS % BUILDS);
		else
			text_append(&text, at, *at != '\0');
		at += mark_size(at);
	}
	if (own == NULL || path == NULL || text.failed)
		return error_memory(err);
	int rc = file_make_directories(own, 0755, err);
	int fd CLEANUP_FD = rc == 0 ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;
	if (rc == 0 && (fd < 0 || !file_write_all(fd, text.data, text.size)))
		return error_system(err, errno, "%s", path);
	return rc;
}

static int measure_in(const char *folder, const char *template, struct error *err)
{
	char *few CLEANUP_FREE = path_join(folder, "few");
	char *many CLEANUP_FREE = path_join(folder, "many");
	struct usage small = {0}, large = {0}, parser = {0};
	int rc = few != NULL && many != NULL ? 0 : error_memory(err);
	for (int i = 0; rc == 0 && i < FEW; i++)
		rc = write_report(template, few, i, err);
	if (rc == 0)
		rc = parse_all(few, FEW, &parser, err);
	if (rc == 0)
		rc = run_matrix(few, &small, err);
	for (int i = 0; rc == 0 && i < MANY; i++)
		rc = write_report(template, many, i, err);
	if (rc == 0)
		rc = run_matrix(many, &large, err);
	if (rc < 0)
		return rc;
	table_row("matrix, 10,000 reports of 200 checks", large.seconds, "s", SECONDS_MOST);
	table_row("matrix, 10,000 reports: time of processors", large.processor, "s", 0);
	table_row("matrix, 10,000 reports: memory at its peak", large.megabytes, "MB",
		  MEGABYTES_MOST);
	table_row("matrix, 10,000 reports / 1,000: time of processors",
		  large.processor / small.processor, "x", MANY_BY_FEW_MOST);
	table_row("matrix, 1,000 reports / the parser alone: time of processors",
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
