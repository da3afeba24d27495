/* SPDX-License-Identifier: MIT */
#include "conformance/checks/host_places.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "conformance/checks/node_file.h"

#include <string.h>

enum extent {
	HOST_WHOLE,    /* the place itself, or a folder above it */
	HOST_WRITABLE, /* as well what is below it, when it can be written to */
	HOST_INSIDE,   /* as well whatever is below it */
	HOST_WRITTEN,  /* all of these, when it can be written to */
};

static const struct {
	const char *name;
	enum extent extent;
} rules[] = {
	{"/", HOST_WHOLE},
	{"/proc", HOST_INSIDE},
	{"/sys", HOST_WRITABLE},
	{"/dev", HOST_WHOLE},
	{"/etc", HOST_WHOLE},
	{"/etc/shadow", HOST_INSIDE},
	{"/etc/gshadow", HOST_INSIDE},
	{"/etc/passwd", HOST_WRITTEN},
	{"/etc/group", HOST_WRITTEN},
	{"/etc/sudoers", HOST_WRITTEN},
	{"/etc/sudoers.d", HOST_WRITTEN},
	{"/etc/pam.d", HOST_WRITTEN},
	{"/etc/ssh", HOST_WRITTEN},
	{"/etc/crontab", HOST_WRITTEN},
	{"/etc/cron.d", HOST_WRITTEN},
	{"/etc/systemd", HOST_WRITTEN},
	{"/etc/ld.so.preload", HOST_WRITTEN},
	{"/etc/cni", HOST_WRITTEN},
	{"/etc/containerd", HOST_WRITTEN},
	{"/etc/cdi", HOST_WRITTEN},
	{"/etc/kubernetes", HOST_INSIDE},
	{"/run/containerd", HOST_INSIDE},
	{"/run/crio", HOST_INSIDE},
	{"/run/docker.sock", HOST_INSIDE},
	{"/run/k3s", HOST_INSIDE},
	{"/run/systemd", HOST_INSIDE},
	{"/run/dbus", HOST_INSIDE},
	{"/var/lib/kubelet", HOST_INSIDE},
	{"/var/lib/containerd", HOST_INSIDE},
	{"/var/lib/containers", HOST_INSIDE},
	{"/var/lib/docker", HOST_INSIDE},
	{"/var/lib/rancher", HOST_INSIDE},
	{"/var/spool/cron", HOST_WRITTEN},
	{"/usr/bin", HOST_WRITTEN},
	{"/usr/sbin", HOST_WRITTEN},
	{"/opt/cni/bin", HOST_WRITTEN},
	{"/boot", HOST_WRITTEN},
	{"/root", HOST_WRITTEN},
};

/* What drivers tell of themselves. */
static const char exempt[] = "/proc/driver";

struct host_place {
	const char *name; /* as a message tells it */
	const char *real;
	enum extent extent;
	bool there;
	struct node_file file;
};

struct host_places {
	struct arena arena;
	struct host_place items[ARRAY_SIZE(rules) + 1];
	size_t count;
};

/* A path without links; what does not exist keeps its name. NULL: out of memory. */
static char *real_path(const char *path)
{
	char *resolved CLEANUP_FREE = NULL;
	if (file_resolve(NULL, path, &resolved, NULL) == 0)
		return path_normalize(resolved);
	return path_normalize(path);
}

static void add(struct host_places *places, const char *name, enum extent extent)
{
	struct host_place *place = &places->items[places->count++];
	char *real CLEANUP_FREE = real_path(name);
	*place = (struct host_place){.name = arena_string(&places->arena, name),
				     .real = arena_string(&places->arena, real),
				     .extent = extent};
	place->there = node_file_identify(name, &place->file);
	places->arena.failed = places->arena.failed || real == NULL;
}

int host_places_new(const char *cri_address, struct host_places **out, struct error *err)
{
	static const char scheme[] = "unix://";
	struct host_places *places CLEANUP_HOST_PLACES = calloc(1, sizeof(*places));
	if (places == NULL)
		return error_memory(err);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		add(places, rules[i].name, rules[i].extent);
	if (text_starts_with(cri_address, scheme))
		add(places, cri_address + strlen(scheme), HOST_INSIDE);
	if (places->arena.failed)
		return error_memory(err);
	*out = STEAL(places);
	return 0;
}

void host_places_free(struct host_places **places)
{
	if (*places != NULL)
		arena_free(&(*places)->arena);
	free(*places);
	*places = NULL;
}

static bool gives(const struct host_place *place, const char *real, bool read_only)
{
	if (path_is_within(place->real, real))
		return true;
	if (place->extent == HOST_INSIDE || (place->extent != HOST_WHOLE && !read_only))
		return path_is_within(real, place->real);
	return false;
}

int host_places_given(const struct host_places *places, const char *path, bool read_only,
		      const char **given, struct error *err)
{
	char *real CLEANUP_FREE = real_path(path);
	struct node_file file = {0};
	bool there = node_file_identify(path, &file);
	*given = NULL;
	if (real == NULL)
		return error_memory(err);
	if (path_is_within(real, exempt))
		return 0;
	for (size_t i = 0; *given == NULL && i < places->count; i++) {
		const struct host_place *place = &places->items[i];
		if (place->extent == HOST_WRITTEN && read_only)
			continue;
		if (gives(place, real, read_only) ||
		    (there && place->there && file.device == place->file.device &&
		     file.inode == place->file.inode))
			*given = place->name;
	}
	return 0;
}
