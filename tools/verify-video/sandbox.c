/* SPDX-License-Identifier: MIT */
#include "tools/verify-video/sandbox.h"

#include "base/cleanup.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOBODY = 65534, OUTPUT_MAX = 1 << 20 };

#if defined(__x86_64__)
#define SANDBOX_MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define SANDBOX_MACHINE AUDIT_ARCH_AARCH64
#else
#define SANDBOX_MACHINE 0
#endif

static int set_limit(int resource, rlim_t value, struct error *err)
{
	const struct rlimit limit = {value, value};
	return setrlimit((__rlimit_resource_t)resource, &limit) == 0
		       ? 0
		       : error_system(err, errno, "limit %d of the sandbox", resource);
}

static int set_limits(const struct sandbox_limits *limits, struct error *err)
{
	int rc = set_limit(RLIMIT_CORE, 0, err);
	if (rc == 0)
		rc = set_limit(RLIMIT_CPU, limits->seconds, err);
	if (rc == 0)
		rc = set_limit(RLIMIT_FSIZE, OUTPUT_MAX, err);
#ifndef SANDBOX_ROOMY
	if (rc == 0)
		rc = set_limit(RLIMIT_AS, limits->memory, err);
	if (rc == 0)
		rc = set_limit(RLIMIT_NOFILE, 0, err);
	if (rc == 0)
		rc = set_limit(RLIMIT_NPROC, 0, err);
#endif
	return rc;
}

/* Whoever is not root, or may not change, keeps the rights that there are. */
static void drop_root(void)
{
	if (geteuid() == 0 && setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0)
		(void)!setresuid(NOBODY, NOBODY, NOBODY);
}

#ifndef SANDBOX_ROOMY
/* What an allocator, the C library's output and its end need, and what decoders ask of the
 * processor. */
static const unsigned calls[] = {
	SYS_write,	     SYS_writev,	 SYS_brk,	  SYS_mmap,
	SYS_munmap,	     SYS_mremap,	 SYS_mprotect,	  SYS_madvise,
	SYS_futex,	     SYS_fstat,		 SYS_newfstatat,  SYS_clock_gettime,
	SYS_rt_sigreturn,    SYS_rt_sigprocmask, SYS_sched_yield, SYS_sched_getaffinity,
	SYS_getrandom,	     SYS_getpid,	 SYS_gettid,	  SYS_tgkill,
	SYS_restart_syscall, SYS_exit,		 SYS_exit_group,
};

static void filter_calls(void)
{
	struct sock_filter program[2 * ARRAY_SIZE(calls) + 5] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SANDBOX_MACHINE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	unsigned short length = 4;
	if (SANDBOX_MACHINE == 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		program[length++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
		program[length++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	program[length++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	const struct sock_fprog filter = {length, program};
	(void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}
#else
static void filter_calls(void)
{
}
#endif

int sandbox_enter(const struct sandbox_limits *limits, struct error *err)
{
	int rc = set_limits(limits, err);
	if (rc != 0)
		return rc;
	drop_root();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return error_system(err, errno, "no new privileges");
	filter_calls();
	return 0;
}
