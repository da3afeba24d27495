/* SPDX-License-Identifier: MIT */
/* The eBPF programs that a cgroup of version 2 asks about devices: bpf(2), commands BPF_PROG_QUERY,
 * BPF_PROG_GET_FD_BY_ID and BPF_OBJ_GET_INFO_BY_FD. They need CAP_SYS_ADMIN. */
#include "base/cleanup.h"
#include "base/file.h"
#include "containers/inspect/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { INSTRUCTION_BYTES = 8 };

/* -1 with errno. */
static int ask_kernel(enum bpf_cmd command, union bpf_attr *attributes)
{
	return (int)syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

/* False: errno. */
static bool read_program(uint32_t id, struct container_program *out)
{
	union bpf_attr by_id = {.prog_id = id};
	struct bpf_prog_info info = {0};
	int fd CLEANUP_FD = ask_kernel(BPF_PROG_GET_FD_BY_ID, &by_id);
	union bpf_attr attributes = {
		.info = {.bpf_fd = (uint32_t)fd,
			 .info_len = sizeof(info),
			 .info = (uint64_t)(uintptr_t)&info},
	};
	if (fd < 0 || ask_kernel(BPF_OBJ_GET_INFO_BY_FD, &attributes) < 0)
		return false;
	text_hex(out->tag, info.tag, sizeof(info.tag));
	out->instructions = info.xlated_prog_len / INSTRUCTION_BYTES;
	return true;
}

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
		if (!read_program(ids[i], &group->programs[i]))
			return false;
		group->program_count++;
	}
	return true;
}

void container_read_programs(struct container_cgroup *group, struct arena *arena)
{
	if (!read_programs(group->path, group))
		group->untold = arena_format(arena, "its eBPF programs: %s", strerror(errno));
}
