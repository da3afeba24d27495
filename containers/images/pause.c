/* SPDX-License-Identifier: MIT */
/* PID 1 of a pod sandbox: waits for a signal to end, and reaps the children that it inherits. */
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

int main(void)
{
	sigset_t wanted;
	int signal = 0;
	(void)sigemptyset(&wanted);
	(void)sigaddset(&wanted, SIGINT);
	(void)sigaddset(&wanted, SIGTERM);
	(void)sigaddset(&wanted, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &wanted, NULL) < 0)
		return 1;
	while (sigwait(&wanted, &signal) == 0 && signal == SIGCHLD) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	return 0;
}
