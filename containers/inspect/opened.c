/* SPDX-License-Identifier: MIT */
/* The devices that a process has open. Its threads share them. */
#include "base/cleanup.h"
#include "base/file.h"
#include "containers/inspect/internal.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { OPEN_MAX_COUNT = 65536, FDINFO_MAX = 64 * 1024, DRM_MAJOR = 226 };

/* "drm-engine-gfx:\t12345 ns" where `name` begins after "drm-engine-". Capacities are not times. */
static void add_engine(const char *name, const char *value, struct container_drm *out)
{
	const size_t length = strcspn(name, ":");
	if (text_starts_with(name, "capacity-") || length == 0 || length >= CONTAINER_DRM_NAME ||
	    strtoull(value, NULL, 10) == 0)
		return;
	for (size_t i = 0; i < out->engine_count; i++) {
		if (strncmp(out->engines[i], name, length) == 0 && out->engines[i][length] == '\0')
			return;
	}
	if (out->engine_count < CONTAINER_ENGINES_MAX)
		memcpy(out->engines[out->engine_count++], name, length);
}

bool container_drm_parse(const char *text, struct container_drm *out)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	struct container_drm drm = {0};
	text_list_split(&lines, text, '\n');
	text_each (line, &lines) {
		const char *value = strchr(line, ':');
		if (value == NULL || !text_starts_with(line, "drm-"))
			continue;
		value += 1 + strspn(value + 1, " \t");
		if (text_starts_with(line, "drm-driver:"))
			(void)snprintf(drm.driver, sizeof(drm.driver), "%s", value);
		else if (text_starts_with(line, "drm-pdev:"))
			(void)snprintf(drm.pdev, sizeof(drm.pdev), "%s", value);
		else if (text_starts_with(line, "drm-engine-"))
			add_engine(line + strlen("drm-engine-"), value, &drm);
		else if (text_starts_with(line, "drm-cycles-"))
			add_engine(line + strlen("drm-cycles-"), value, &drm);
	}
	*out = drm;
	return drm.driver[0] != '\0';
}

/* A process may have several files of one device open. The one with the most engines is used. */
static void add_drm(struct container_view *view, const struct container_drm *drm)
{
	struct container_drm *known = view->drm;
	while (known < view->drm + view->drm_count &&
	       (!text_equal(known->driver, drm->driver) || !text_equal(known->pdev, drm->pdev)))
		known++;
	if (known == view->drm + view->drm_count) {
		if (view->drm_count == CONTAINER_DRM_MAX)
			return;
		view->drm_count++;
		*known = *drm;
	} else if (drm->engine_count > known->engine_count) {
		*known = *drm;
	}
}

int container_view_opened(struct container_view *view, struct error *err)
{
	const long long pid = view->pid;
	char *path CLEANUP_FREE = text_format("/proc/%lld/fd", pid);
	DIR *directory CLEANUP_DIR = opendir(path);
	if (directory == NULL)
		return error_system(err, errno, "%s", path);

	const struct dirent *entry = NULL;
	for (size_t i = 0; i < OPEN_MAX_COUNT && (entry = readdir(directory)) != NULL; i++) {
		struct stat status = {0};
		if (entry->d_name[0] == '.' ||
		    fstatat(dirfd(directory), entry->d_name, &status, 0) < 0 ||
		    (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode)))
			continue;
		view->opened = arena_grow(&view->arena, view->opened, view->opened_count,
					  sizeof(*view->opened));
		view->opened[view->opened_count++] = (struct container_node){
			.block = S_ISBLK(status.st_mode),
			.major = major(status.st_rdev),
			.minor = minor(status.st_rdev),
		};

		char *info CLEANUP_FREE = text_format("/proc/%lld/fdinfo/%s", pid, entry->d_name);
		char *text CLEANUP_FREE = NULL;
		struct container_drm drm = {0};
		if (major(status.st_rdev) == DRM_MAJOR &&
		    file_read(info, FDINFO_MAX, &text, NULL, NULL) == 0 &&
		    container_drm_parse(text, &drm))
			add_drm(view, &drm);
	}
	return 0;
}
