/* SPDX-License-Identifier: MIT */
/* What the tests run in containers: does what its arguments say, one after the other.
 *
 *   out=TEXT err=TEXT  writes a line
 *   partial=TEXT       writes without a newline
 *   many=COUNT         writes COUNT numbered lines
 *   env=NAME           writes a variable
 *   cat=PATH           writes a file's content
 *   stat=PATH          writes "char", "directory", "file", or the reason
 *   touch=PATH         writes "ok" or the reason
 *   pid, caps          writes its process id; its capabilities and filters
 *   wait=PATH          waits until PATH is there
 *   spam               writes lines without end
 *   hang               waits for ever, SIGTERM or not
 *   memory             takes memory until it is killed
 *   crash, abort       writes to address 0; calls abort()
 *   signal=NUMBER      raises a signal
 *   exit=CODE          ends
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void do_cat(const char *path)
{
	char chunk[4096];
	ssize_t count = 0;
	int fd = open(path, O_RDONLY);
	if (fd < 0) {
		(void)printf("%s: %s\n", path, strerror(errno));
		return;
	}
	while ((count = read(fd, chunk, sizeof(chunk))) > 0)
		(void)fwrite(chunk, 1, (size_t)count, stdout);
	(void)close(fd);
	(void)fflush(stdout);
}

static void do_stat(const char *path)
{
	struct stat status = {0};
	if (stat(path, &status) < 0)
		(void)puts(strerror(errno));
	else
		(void)puts(S_ISCHR(status.st_mode)   ? "char"
			   : S_ISDIR(status.st_mode) ? "directory"
			   : S_ISREG(status.st_mode) ? "file"
						     : "other");
}

static void do_touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	(void)puts(fd >= 0 ? "ok" : strerror(errno));
	if (fd >= 0)
		(void)close(fd);
}

static void do_caps(void)
{
	char line[256] = "";
	FILE *file = fopen("/proc/self/status", "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, "CapEff:", 7) == 0 || strncmp(line, "NoNewPrivs:", 11) == 0 ||
		    strncmp(line, "Seccomp:", 8) == 0)
			(void)fputs(line, stdout);
	}
	if (file != NULL)
		(void)fclose(file);
}

static void do_wait(const char *path)
{
	const struct timespec pause_time = {.tv_nsec = 2000000};
	while (access(path, F_OK) < 0)
		(void)nanosleep(&pause_time, NULL);
}

static void do_memory(void)
{
	for (;;) {
		char *block = malloc(1 << 20);
		if (block != NULL)
			memset(block, 1, 1 << 20);
	}
}

static void do_word(const char *word)
{
	volatile int *nowhere = NULL;
	if (strcmp(word, "hang") == 0) {
		(void)signal(SIGTERM, SIG_IGN);
		for (;;)
			(void)pause();
	} else if (strcmp(word, "crash") == 0) {
		*nowhere = 1; /* NOLINT: the crash is wanted */
	} else if (strcmp(word, "abort") == 0) {
		abort();
	} else if (strcmp(word, "memory") == 0) {
		do_memory();
	} else if (strcmp(word, "pid") == 0) {
		(void)printf("%d\n", (int)getpid());
	} else if (strcmp(word, "caps") == 0) {
		do_caps();
	} else if (strcmp(word, "spam") == 0) {
		for (;;)
			(void)puts(
				"0123456789012345678901234567890123456789012345678901234567890123");
	} else {
		(void)fprintf(stderr, "unknown word %s\n", word);
		exit(99);
	}
}

static void do_assignment(const char *name, const char *value)
{
	if (strcmp(name, "out") == 0)
		(void)puts(value);
	else if (strcmp(name, "partial") == 0)
		(void)fputs(value, stdout);
	else if (strcmp(name, "err") == 0)
		(void)fprintf(stderr, "%s\n", value);
	else if (strcmp(name, "exit") == 0)
		exit((int)strtol(value, NULL, 10));
	else if (strcmp(name, "env") == 0)
		(void)puts(getenv(value) != NULL ? getenv(value) : "(unset)");
	else if (strcmp(name, "cat") == 0)
		do_cat(value);
	else if (strcmp(name, "stat") == 0)
		do_stat(value);
	else if (strcmp(name, "touch") == 0)
		do_touch(value);
	else if (strcmp(name, "wait") == 0)
		do_wait(value);
	else if (strcmp(name, "signal") == 0)
		(void)raise((int)strtol(value, NULL, 10));
	else if (strcmp(name, "many") == 0)
		for (long i = 0; i < strtol(value, NULL, 10); i++)
			(void)printf("%ld\n", i);
	else
		do_word(name);
}

int main(int argc, char **argv)
{
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i < argc; i++) {
		char *equals = strchr(argv[i], '=');
		if (equals != NULL)
			*equals = '\0';
		if (equals != NULL)
			do_assignment(argv[i], equals + 1);
		else
			do_word(argv[i]);
	}
	return 0;
}
