/* SPDX-License-Identifier: MIT */
/* The cgroups of a container that limit its devices, in whichever hierarchies this machine has. A
 * cgroup of version 1 has rules. One of version 2 has eBPF programs, which bpf(2) reads with
 * BPF_PROG_QUERY, BPF_PROG_GET_FD_BY_ID and BPF_OBJ_GET_INFO_BY_FD; they need CAP_SYS_ADMIN. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "containers/inspect/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RULES_MAX = 1024 * 1024, INSTRUCTION_BYTES = 8 };

/* -1 with errno. */
static int ask_kernel(enum bpf_cmd command, union bpf_attr *attributes)
{
	return (int)syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

/* False: errno. */
static bool read_programs(const char *path, struct container_cgroup *group)
{
	uint32_t ids[CONTAINER_PROGRAMS_MAX] = {0};
	int fd CLEANUP_FD = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	union bpf_attr attributes = {
		.query = {.target_fd = (uint32_t)fd,
			  .attach_type = BPF_CGROUP_DEVICE,
			  .query_flags = BPF_F_QUERY_EFFECTIVE,
			  .prog_ids = (uint64_t)(uintptr_t)ids,
			  .prog_cnt = CONTAINER_PROGRAMS_MAX},
	};
	if (fd < 0 || ask_kernel(BPF_PROG_QUERY, &attributes) < 0)
		return false;
	for (size_t i = 0; i < attributes.query.prog_cnt; i++) {
		union bpf_attr by_id = {.prog_id = ids[i]};
		struct bpf_prog_info info = {0};
		int program CLEANUP_FD = ask_kernel(BPF_PROG_GET_FD_BY_ID, &by_id);
		union bpf_attr by_fd = {
			.info = {.bpf_fd = (uint32_t)program,
				 .info_len = sizeof(info),
				 .info = (uint64_t)(uintptr_t)&info},
		};
		if (program < 0 || ask_kernel(BPF_OBJ_GET_INFO_BY_FD, &by_fd) < 0)
			return false;
		text_hex(group->programs[i].tag, info.tag, sizeof(info.tag));
		group->programs[i].instructions = info.xlated_prog_len / INSTRUCTION_BYTES;
		group->program_count++;
	}
	return true;
}

/* mountinfo does not name the controllers of a hierarchy of version 1; the file devices.list shows
 * this one. */
static bool is_hierarchy(const struct container_mount *mount, unsigned version)
{
	if (version == 2)
		return text_equal(mount->type, "cgroup2");
	char *file CLEANUP_FREE = path_join(mount->target, "devices.list");
	return text_equal(mount->type, "cgroup") && file_exists(file);
}

/* Adds the group of one hierarchy, if it is mounted where a process can be moved into it. In a pod on version 1 the mount shows
 * only the pod's group, while /proc/PID/cgroup has the path from the hierarchy's root. */
static void add_group(struct container_view *view, const struct container_mounts *mounts,
		      unsigned version, const char *path)
{
	struct arena *arena = &view->arena;
	for (size_t i = 0; i < mounts->count; i++) {
		const struct container_mount *mount = &mounts->items[i];
		if (!is_hierarchy(mount, version) || !path_is_within(path, mount->root))
			continue;
		const size_t hidden = text_equal(mount->root, "/") ? 0 : strlen(mount->root);
		char *group CLEANUP_FREE = text_format("%s%s", mount->target, path + hidden);
		char *members CLEANUP_FREE = path_join(group, "cgroup.procs");
		if (access(members, W_OK) < 0)
			continue;

		struct container_cgroup *added = &view->cgroups[view->cgroup_count++];
		*added = (struct container_cgroup){.version = version,
						   .path = arena_string(arena, group)};
		if (version == 2) {
			if (!read_programs(group, added))
				added->unknown = arena_format(arena, "its eBPF programs: %s",
							      strerror(errno));
			return;
		}
		char *list CLEANUP_FREE = path_join(group, "devices.list");
		char *rules CLEANUP_FREE = NULL;
		struct error why = {0};
		if (file_read(list, RULES_MAX, &rules, NULL, &why) == 0)
			added->rules = arena_string(arena, rules);
		else
			added->unknown = arena_string(arena, why.text);
		return;
	}
}

int container_view_cgroups(struct container_view *view, struct error *err)
{
	/* The start of a hierarchy's line in /proc/PID/cgroup (cgroups(7)); the path begins with the
	 * '/'. */
	static const char *const marks[CONTAINER_CGROUPS_MAX] = {":devices:/", "\n0::/"};
	char *text CLEANUP_FREE = NULL;
	int rc = proc_read(view->pid, "cgroup", &text, NULL, err);
	if (rc < 0)
		return rc;
	struct container_mounts mounts CLEANUP_CONTAINER_MOUNTS = {0};
	rc = container_mounts_read(0, &mounts, err);
	if (rc < 0)
		return rc;

	char *lines CLEANUP_FREE = text_format("\n%s", text);
	for (unsigned i = 0; i < CONTAINER_CGROUPS_MAX; i++) {
		const char *found = strstr(lines, marks[i]);
		if (found == NULL)
			continue;
		found += strlen(marks[i]) - 1;
		char *path CLEANUP_FREE = memory_copy_start(found, strcspn(found, "\n"));
		add_group(view, &mounts, i + 1, path);
	}
	return 0;
}
