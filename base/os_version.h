/* SPDX-License-Identifier: MIT */
#pragma once

/* Which operating system this program runs on. */

#include "base/error.h"

struct os_version {
	char product[128]; /* "Windows Server 2022 Datacenter", "Debian GNU/Linux 12 (bookworm)" */
	char display_version[32]; /* Windows: "21H2", older: ReleaseId ("1809"); "" when unknown */
	unsigned major, minor, build, revision; /* Windows: 10.0.20348.1547 */
	char kernel[128]; /* the whole kernel release ("6.1.0-18-amd64"), or "10.0.20348.1547" */
	char kernel_build[128]; /* Linux: "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)";
				   else "" */
	char architecture[65];	/* of the machine: "x86_64", on Windows "x86_64" or "arm64" */
	char wine[32];		/* "10.0" under Wine, whose Windows version is a claim; else "" */
};

/* Windows: RtlGetVersion, which unlike GetVersionEx does not depend on the program's manifest, and
 * the registry for revision (UBR), DisplayVersion or ReleaseId and ProductName. Client systems from
 * build 22000 on are called Windows 11, whatever ProductName says. ERROR_IO: the system call
 * fails. */
int os_version_read(struct os_version *out, struct error *err);

/* Linux: the value of a key ("PRETTY_NAME=") in the text of an os-release(5), without its quotes.
 * NULL: not found, or out of memory. Caller frees. */
char *os_release_value(const char *text, const char *key);
