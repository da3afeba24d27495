/* SPDX-License-Identifier: MIT */
#include "base/os_version.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { OS_RELEASE_MAX = 64 * 1024 };

char *os_release_value(const char *text, const char *key)
{
	const char *line = text;
	while (!text_starts_with(line, key)) {
		const char *end = strchr(line, '\n');
		if (end == NULL)
			return NULL;
		line = end + 1;
	}
	line += strlen(key);
	size_t size = strcspn(line, "\n");
	bool quoted = size >= 2 && strchr("\"'", line[0]) != NULL && line[size - 1] == line[0];
	return quoted ? memory_copy_start(line + 1, size - 2) : memory_copy_start(line, size);
}

int os_version_read(struct os_version *out, struct error *err)
{
	static const char *const files[] = {"/etc/os-release", "/usr/lib/os-release"};
	struct utsname name = {0};
	*out = (struct os_version){0};
	if (uname(&name) != 0)
		return error_system(err, errno, "uname");
	for (size_t i = 0; i < ARRAY_SIZE(files) && out->product[0] == '\0'; i++) {
		char *text CLEANUP_FREE = NULL;
		if (file_read(files[i], OS_RELEASE_MAX, &text, NULL, NULL) < 0)
			continue;
		char *product CLEANUP_FREE = os_release_value(text, "PRETTY_NAME=");
		(void)snprintf(out->product, sizeof(out->product), "%s",
			       product != NULL ? product : "");
	}
	(void)snprintf(out->kernel, sizeof(out->kernel), "%s", name.release);
	(void)snprintf(out->kernel_build, sizeof(out->kernel_build), "%s", name.version);
	(void)snprintf(out->architecture, sizeof(out->architecture), "%s", name.machine);
	return 0;
}
