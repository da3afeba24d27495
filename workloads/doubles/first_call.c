/* SPDX-License-Identifier: MIT */
/*
 * Used by bench/probes.mjs to measure probes. Under the name of a driver's library it ends the probe
 * as soon as the probe loads it, the first step with an API, and writes the time (nanoseconds of the
 * monotonic clock) and the probe's memory (kilobytes) to the file $BENCH_FIRST_CALL. Preloaded, it
 * writes the probe's peak memory to $BENCH_PEAK. As a program it is the ffmpeg that probe-ffmpeg
 * starts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A line of /proc/self/status, in kilobytes; 0: missing. */
static long status_kb(const char *name)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256] = "";
	long value = 0;
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtol(line + strlen(name), NULL, 10);
	}
	if (file != NULL)
		(void)fclose(file);
	return value;
}

static void record(const char *path, long long first, long second)
{
	FILE *file = fopen(path, "w");
	if (file == NULL)
		_exit(1);
	(void)fprintf(file, "%lld %ld\n", first, second);
	(void)fclose(file);
}

__attribute__((constructor)) static void loaded(void)
{
	const char *path = getenv("BENCH_FIRST_CALL");
	struct timespec now = {0};
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (path == NULL)
		return;
	record(path, (long long)now.tv_sec * 1000000000 + now.tv_nsec, status_kb("VmRSS:"));
	_exit(0);
}

__attribute__((destructor)) static void ended(void)
{
	const char *path = getenv("BENCH_PEAK");
	if (path != NULL)
		record(path, 0, status_kb("VmHWM:"));
}

#ifdef FIRST_CALL_PROGRAM
int main(void)
{
	return 1;
}
#endif
