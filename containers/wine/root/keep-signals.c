/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into Wine's processes: the first handler of one of these signals stays, which is
 * Wine's. LLVM inside PoCL would replace it; Wine's server ends the threads of a program that exits
 * with SIGQUIT, so that the program would seem killed, and access violations would not become
 * exceptions.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

typedef int (*sigaction_function)(int number, const struct sigaction *act, struct sigaction *old);

static int keeps(int number)
{
	return number == SIGQUIT || number == SIGSEGV || number == SIGILL || number == SIGBUS ||
	       number == SIGFPE || number == SIGTRAP || number == SIGABRT || number == SIGINT ||
	       number == SIGUSR1;
}

int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
	static atomic_int taken[NSIG];
	static _Atomic(sigaction_function) found;
	sigaction_function next = atomic_load(&found);
	if (next == NULL) {
		/* A conversion that ISO C lacks and POSIX requires. */
		*(void **)&next = dlsym(RTLD_NEXT, "sigaction");
		atomic_store(&found, next);
	}
	if (act != NULL && number > 0 && number < NSIG && keeps(number) &&
	    act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN &&
	    atomic_exchange(&taken[number], 1) != 0)
		return next(number, NULL, old);
	return next(number, act, old);
}
