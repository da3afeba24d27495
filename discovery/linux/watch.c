/* SPDX-License-Identifier: MIT */
/*
 * Watching a node. Kernel uevents, inotify and a timer only trigger a comparison of a fingerprint of the
 * places that discovery reads. So an irrelevant event costs a few directory listings and no snapshot,
 * and a change without any event (uevents do not reach a container's network namespace) is found by
 * the timer.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "discovery/linux/places.h"

#include <errno.h>
#include <limits.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
	TARGETS_MAX = 64,
	UEVENT_GROUP_KERNEL = 1,
	UEVENT_SIZE = 8192,
	DIRECTORY_EVENTS = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE |
			   IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR,
	ANCESTOR_EVENTS = IN_CREATE | IN_MOVED_TO | IN_ONLYDIR,
};

struct watch_target {
	char *directory;
	const char *pattern;
	bool contents; /* file contents matter, too */
	bool events;   /* inotify works there: not in /sys and /proc */
};

struct discovery_watch {
	int epoll, inotify, uevents, timer;
	struct watch_target targets[TARGETS_MAX];
	size_t target_count;
	uint64_t fingerprint;
	char recorded[PATH_MAX]; /* the file of a recorded node */
};

#define CLEANUP_WATCH __attribute__((cleanup(watch_cleanup)))

static void watch_cleanup(struct discovery_watch **watch)
{
	discovery_watch_close(*watch);
}

/* Consumes `directory`; NULL: out of memory. */
static int add(struct discovery_watch *watch, char *directory, const char *pattern, bool contents,
	       bool events, struct error *err)
{
	if (directory == NULL)
		return error_memory(err);
	if (watch->target_count == TARGETS_MAX) {
		free(directory);
		return error_set(err, ERROR_LIMIT, "more than %d directories to watch",
				 (int)TARGETS_MAX);
	}
	watch->targets[watch->target_count++] =
		(struct watch_target){directory, pattern, contents, events};
	return 0;
}

/* The manifests of directories that a loader searches. */
static int add_all(struct discovery_watch *watch, const struct text_list *directories,
		   struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < directories->count; i++)
		rc = add(watch, memory_copy(directories->items[i]), "*.json", true, true, err);
	return rc;
}

static int add_node(struct discovery_watch *watch, const struct discovery_options *options,
		    struct error *err)
{
	struct places places CLEANUP_PLACES = {0};

	int rc = places_open(options, &places, err);
	if (rc < 0)
		return rc;
	const struct {
		const char *directory, *below, *pattern;
		bool contents, events;
	} parts[] = {
		{places.sysfs, "class/drm", "renderD*", false, false},
		{places.proc, "driver/nvidia/gpus", "*", false, false},
		{places.dev, "", "nvidia*", false, true},
		{places.dev, "nvidia-caps", "*", false, true},
		{places.sysfs, "class/kfd/kfd/topology/nodes", "*", false, false},
		{places.dev, "", "kfd", false, true},
		{places.dev, "dri", "*", false, true},
		{places.opencl_vendors, "", "*.icd", true, true},
	};
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(parts); i++) {
		char *directory = parts[i].below[0] == '\0'
					  ? memory_copy(parts[i].directory)
					  : path_join(parts[i].directory, parts[i].below);
		rc = add(watch, directory, parts[i].pattern, parts[i].contents, parts[i].events,
			 err);
	}
	if (rc == 0)
		rc = add_all(watch, &places.vulkan_icd_directories, err);
	if (rc == 0)
		rc = add_all(watch, &places.egl_vendor_directories, err);
	return rc;
}

/* FNV-1a */
static uint64_t fingerprint_bytes(uint64_t fingerprint, const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		fingerprint = (fingerprint ^ bytes[i]) * UINT64_C(0x100000001b3);
	return fingerprint;
}

static uint64_t watch_fingerprint(const struct discovery_watch *watch)
{
	uint64_t fingerprint = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < watch->target_count; i++) {
		const struct watch_target *target = &watch->targets[i];
		struct text_list names CLEANUP_TEXT_LIST = {0};

		fingerprint = fingerprint_bytes(fingerprint, target->directory,
						strlen(target->directory) + 1);
		/* A directory that cannot be read is empty. */
		(void)file_list(target->directory, &names, NULL);
		text_each (name, &names) {
			char *path CLEANUP_FREE = path_join(target->directory, name);
			struct stat status = {0};
			uint64_t facts[4] = {0};

			if (path == NULL || !text_glob(target->pattern, name))
				continue;
			fingerprint = fingerprint_bytes(fingerprint, name, strlen(name) + 1);
			if (!target->contents)
				continue;
			if (stat(path, &status) == 0) {
				facts[0] = (uint64_t)status.st_ino;
				facts[1] = (uint64_t)status.st_size;
				facts[2] = (uint64_t)status.st_ctim.tv_sec;
				facts[3] = (uint64_t)status.st_ctim.tv_nsec;
			}
			fingerprint = fingerprint_bytes(fingerprint, facts, sizeof(facts));
		}
	}
	return fingerprint;
}

/* Watches every directory or, where it does not exist yet, the nearest one above it. Watching again
 * is harmless, and needed when directories come and go. */
static void arm(struct discovery_watch *watch)
{
	for (size_t i = 0; i < watch->target_count && watch->inotify >= 0; i++) {
		char *at CLEANUP_FREE = memory_copy(watch->targets[i].directory);
		uint32_t events = DIRECTORY_EVENTS;

		while (watch->targets[i].events && at != NULL &&
		       inotify_add_watch(watch->inotify, at, events | IN_MASK_ADD) < 0 &&
		       errno == ENOENT && !text_equal(at, "/")) {
			char *parent = path_directory(at);
			free(at);
			at = parent;
			events = ANCESTOR_EVENTS;
		}
	}
}

static int watch_register(struct discovery_watch *watch, int fd, const char *what,
			  struct error *err)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	if (fd >= 0 && epoll_ctl(watch->epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		return error_system(err, errno, "watching %s", what);
	return 0;
}

static int open_events(struct discovery_watch *watch, bool live, unsigned poll_ms,
		       struct error *err)
{
	struct timespec interval = {.tv_sec = poll_ms / 1000,
				    .tv_nsec = (long)(poll_ms % 1000) * 1000000};
	struct itimerspec timer = {.it_interval = interval, .it_value = interval};

	watch->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (watch->epoll < 0)
		return error_system(err, errno, "epoll");
	watch->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	/* Without uevents of the kernel (another network namespace, no permission) the timer finds
	 * changes. */
	if (live) {
		const struct sockaddr_nl address = {.nl_family = AF_NETLINK,
						    .nl_groups = UEVENT_GROUP_KERNEL};
		int fd CLEANUP_FD = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
					   NETLINK_KOBJECT_UEVENT);
		if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
			watch->uevents = STEAL_FD(fd);
	}
	int rc = watch_register(watch, watch->inotify, "directories", err);
	if (rc == 0)
		rc = watch_register(watch, watch->uevents, "uevents", err);
	if (rc < 0 || poll_ms == 0)
		return rc;
	watch->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (watch->timer < 0 || timerfd_settime(watch->timer, 0, &timer, NULL) < 0)
		return error_system(err, errno, "timer of the watch");
	return watch_register(watch, watch->timer, "the timer", err);
}

int discovery_watch_open(const struct discovery_options *options, unsigned poll_ms,
			 struct discovery_watch **out, struct error *err)
{
	static const struct discovery_options live_node = {0};
	struct discovery_watch *watch CLEANUP_WATCH = memory_allocate(1, sizeof(*watch));
	int rc = 0;

	if (watch == NULL)
		return error_memory(err);
	watch->epoll = watch->inotify = watch->uevents = watch->timer = -1;
	if (options == NULL)
		options = &live_node;
	const char *recorded = options->recorded_node;
	if (recorded == NULL)
		rc = add_node(watch, options, err);
	else if (realpath(recorded, watch->recorded) == NULL)
		rc = error_system(err, errno, "%s", recorded);
	else
		rc = add(watch, path_directory(watch->recorded), path_base(watch->recorded), true,
			 true, err);
	if (rc == 0)
		rc = open_events(watch, recorded == NULL && options->root == NULL, poll_ms, err);
	if (rc < 0)
		return rc;
	arm(watch);
	watch->fingerprint = watch_fingerprint(watch);
	*out = STEAL(watch);
	return 0;
}

intptr_t discovery_watch_handle(const struct discovery_watch *watch)
{
	return watch->epoll;
}

/* Reads all events; their content does not matter. */
static void drain(int fd)
{
	char buffer[UEVENT_SIZE];
	ssize_t size = fd >= 0 ? 1 : 0;

	while (size > 0 || (size < 0 && errno == EINTR))
		size = read(fd, buffer, sizeof(buffer));
}

/* Does a uevent of the kernel (NUL-ended "KEY=value" strings) concern a graphics device? Such an event
 * can report a change that no directory shows: a reset, a driver that was bound. */
static bool uevent_matters(const char *event, size_t size)
{
	static const char *const relevant[] = {"SUBSYSTEM=drm", "DRIVER=nvidia", "PCI_CLASS=3"};

	for (const char *at = event; at < event + size; at += strlen(at) + 1) {
		for (size_t i = 0; i < ARRAY_SIZE(relevant); i++) {
			if (text_starts_with(at, relevant[i]))
				return true;
		}
	}
	return false;
}

bool discovery_watch_changed(struct discovery_watch *watch)
{
	bool reported = false;

	while (watch->uevents >= 0) {
		char event[UEVENT_SIZE + 1] = "";
		struct sockaddr_nl sender = {0};
		socklen_t length = sizeof(sender);

		ssize_t size = recvfrom(watch->uevents, event, UEVENT_SIZE, 0,
					(struct sockaddr *)&sender, &length);
		/* ENOBUFS: events were lost, so anything may have happened. */
		if (size < 0 && errno == ENOBUFS)
			reported = true;
		else if (size < 0 && errno != EINTR)
			break;
		else if (size > 0 && sender.nl_pid == 0)
			reported = uevent_matters(event, (size_t)size) || reported;
	}
	drain(watch->inotify);
	drain(watch->timer);
	arm(watch);
	uint64_t fingerprint = watch_fingerprint(watch);
	bool changed = reported || fingerprint != watch->fingerprint;
	watch->fingerprint = fingerprint;
	return changed;
}

void discovery_watch_close(struct discovery_watch *watch)
{
	if (watch == NULL)
		return;
	const int fds[] = {watch->epoll, watch->inotify, watch->uevents, watch->timer};
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (fds[i] >= 0)
			(void)close(fds[i]);
	}
	for (size_t i = 0; i < watch->target_count; i++)
		free(watch->targets[i].directory);
	free(watch);
}
