/* SPDX-License-Identifier: MIT */
#include "containers/inspect/dmem.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"
#include "containers/inspect/inspect.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "REGION BYTES" or "REGION max". */
static bool read_line(const char *line, struct dmem_region *out)
{
	const char *space = strrchr(line, ' ');
	size_t size = space != NULL ? (size_t)(space - line) : 0;
	if (size == 0 || size >= sizeof(out->name) || memchr(line, ' ', size) != NULL)
		return false;
	*out = (struct dmem_region){.bytes = DMEM_NO_LIMIT};
	memcpy(out->name, line, size);
	if (text_equal(space + 1, "max"))
		return true;

	char *end = NULL;
	errno = 0;
	out->bytes = strtoull(space + 1, &end, 10);
	return isdigit((unsigned char)space[1]) && *end == '\0' && errno == 0;
}

int dmem_parse(const char *text, struct dmem *out, struct error *err)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	text_list_split(&lines, text, '\n');
	out->count = 0;
	for (size_t i = 0; i < lines.count; i++) {
		if (lines.items[i][0] == '\0')
			continue;
		if (out->count == DMEM_REGIONS_MAX)
			return error_set(err, ERROR_LIMIT, "more than %d regions",
					 DMEM_REGIONS_MAX);
		if (!read_line(lines.items[i], &out->regions[out->count++]))
			return error_set(err, ERROR_FORMAT,
					 "line %zu is not a region and a number of bytes", i + 1);
	}
	return 0;
}

const struct dmem_region *dmem_find_device(const struct dmem *dmem, const char *pci_address)
{
	for (size_t i = 0; i < dmem->count; i++) {
		const char *name = dmem->regions[i].name;
		size_t size = strlen(pci_address);
		if (text_starts_with(name, "drm/") && size != 0 &&
		    strncmp(name + 4, pci_address, size) == 0 && name[4 + size] == '/')
			return &dmem->regions[i];
	}
	return NULL;
}

int dmem_read(const char *group, const char *file, const char *region, uint64_t *bytes,
	      struct error *err)
{
	struct dmem dmem = {0};
	char *path CLEANUP_FREE = path_join(group, file);
	char *text CLEANUP_FREE = NULL;
	int rc = file_read(path, DMEM_FILE_MAX, &text, NULL, err);
	if (rc == 0)
		rc = dmem_parse(text, &dmem, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	for (size_t i = 0; i < dmem.count; i++) {
		if (!text_equal(dmem.regions[i].name, region))
			continue;
		*bytes = dmem.regions[i].bytes;
		return 0;
	}
	return error_set(err, ERROR_NOT_FOUND, "%s: no region %s", path, region);
}

/* One write, as the kernel's files require. */
static int write_file(const char *group, const char *file, const char *text, struct error *err)
{
	char *path CLEANUP_FREE = path_join(group, file);
	int fd CLEANUP_FD = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || !file_write_all(fd, text, strlen(text)))
		return error_system(err, errno, "%s: '%s'", path, text);
	return 0;
}

int dmem_limit(const char *group, const char *region, uint64_t bytes, struct error *err)
{
	char *line CLEANUP_FREE =
		bytes == DMEM_NO_LIMIT ? text_format("%s max", region)
				       : text_format("%s %llu", region, (unsigned long long)bytes);
	return write_file(group, "dmem.max", line, err);
}

static const char subtree_control[] = "cgroup.subtree_control";

void dmem_withdraw(const char *root)
{
	(void)write_file(root, subtree_control, "-dmem", NULL);
}

int dmem_find_root(char **root, char **controllers, struct error *err)
{
	struct container_mounts mounts CLEANUP_CONTAINER_MOUNTS = {0};
	int rc = container_mounts_read(0, &mounts, err);
	for (size_t i = 0; rc == 0 && *root == NULL && i < mounts.count; i++) {
		const struct container_mount *mount = &mounts.items[i];
		char *path CLEANUP_FREE = path_join(mount->target, "cgroup.controllers");
		if (text_equal(mount->type, "cgroup2") &&
		    file_read_line(path, controllers, NULL) == 0)
			*root = memory_copy(mount->target);
	}
	return rc;
}

int dmem_make_group(const char *root, const char *path, bool *was_there, char **group,
		    struct error *err)
{
	char *control CLEANUP_FREE = path_join(root, subtree_control);
	char *line CLEANUP_FREE = NULL;
	int rc = file_read_line(control, &line, err);
	*was_there = rc < 0 || strstr(line, "dmem") != NULL;
	if (!*was_there)
		rc = write_file(root, subtree_control, "+dmem", err);
	if (rc < 0)
		return rc;
	*group = text_format("%s%s", root, path);
	return file_make_directories(*group, 0755, err);
}
