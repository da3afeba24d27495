/* SPDX-License-Identifier: MIT */
#include "tools/verify-video/sandbox.h"

#include "base/cleanup.h"

#include <errno.h>
#include <grp.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534, OUTPUT_MAX = 1 << 20 };

int sandbox_enter(const struct sandbox_limits *limits, struct error *err)
{
	const struct {
		__rlimit_resource_t resource;
		rlim_t value;
	} rows[] = {
		{RLIMIT_CORE, 0},
		{RLIMIT_CPU, limits->seconds},
		{RLIMIT_FSIZE, OUTPUT_MAX},
#ifndef SANDBOX_ROOMY
		{RLIMIT_AS, limits->memory},
		{RLIMIT_NOFILE, 0},
		{RLIMIT_NPROC, 0},
#endif
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct rlimit limit = {rows[i].value, rows[i].value};
		if (setrlimit(rows[i].resource, &limit) != 0)
			return error_system(err, errno, "limit %d of the sandbox",
					    (int)rows[i].resource);
	}

	/* A process that is not root, or cannot drop its rights, keeps them. */
	if (geteuid() == 0 && setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0)
		(void)!setresuid(NOBODY, NOBODY, NOBODY);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return error_system(err, errno, "no new privileges");

#ifndef SANDBOX_ROOMY
	/* The calls of an allocator, of the C library's output and its end, and of decoders that examine
	 * the processor. */
	static const int calls[] = {
		SYS_write,	     SYS_writev,	 SYS_brk,	  SYS_mmap,
		SYS_munmap,	     SYS_mremap,	 SYS_mprotect,	  SYS_madvise,
		SYS_futex,	     SYS_fstat,		 SYS_newfstatat,  SYS_clock_gettime,
		SYS_rt_sigreturn,    SYS_rt_sigprocmask, SYS_sched_yield, SYS_sched_getaffinity,
		SYS_getrandom,	     SYS_getpid,	 SYS_gettid,	  SYS_tgkill,
		SYS_restart_syscall, SYS_exit,		 SYS_exit_group,
	};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		(void)seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	(void)seccomp_load(filter);
	seccomp_release(filter);
#endif
	return 0;
}
