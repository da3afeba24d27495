/* SPDX-License-Identifier: MIT */
#include "discovery/linux/sysfs.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

const char *sysfs_text(struct builder *builder, const char *directory, const char *name)
{
	const char *path = builder_path(builder, directory, name);
	char *line CLEANUP_FREE = NULL;
	struct error err = {0};

	/* Reads of attributes that the hardware lacks fail: they are unknown, too. */
	if (file_read_line(path, &line, &err) < 0)
		return "";
	if (!text_is_utf8(line, strlen(line))) {
		builder_diagnose(builder, path, "is not UTF-8");
		return "";
	}
	return builder_string(builder, line);
}

int64_t sysfs_number(struct builder *builder, const char *directory, const char *name, int64_t max)
{
	const char *text = sysfs_text(builder, directory, name);
	struct error err = {0};
	long long value = 0;

	if (text[0] == '\0' || text_equal(text, "-1"))
		return DISCOVERY_UNKNOWN;
	if (text_to_int64(text, name, 0, max, &value, &err) < 0) {
		builder_diagnose(builder, directory, "%s", err.text);
		return DISCOVERY_UNKNOWN;
	}
	return value;
}

const char *sysfs_driver(struct builder *builder, const char *directory)
{
	char target[PATH_MAX] = "";

	ssize_t size =
		readlink(builder_path(builder, directory, "driver"), target, sizeof(target) - 1);
	if (size <= 0)
		return "";
	target[size] = '\0';
	return builder_string(builder, path_base(target));
}
