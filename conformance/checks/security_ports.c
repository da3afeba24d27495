/* SPDX-License-Identifier: MIT */
/* TCP ports on which the plugin listens. */
#include "base/file.h"
#include "conformance/checks/rig_usage.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_MAX = 16 << 20 };

/* Fields of a line in /proc/net/tcp (proc(5)). */
enum { LOCAL = 1, STATE = 3, INODE = 9, FIELDS = 10 };

/* "socket:[INODE]" of each descriptor of the process. */
static void list_sockets(int pid, struct text_list *out)
{
	char *folder CLEANUP_FREE = text_format("/proc/%d/fd", pid);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	(void)file_list(folder, &names, NULL);
	text_each (name, &names) {
		char *path CLEANUP_FREE = text_format("%s/%s", folder, name);
		uv_fs_t request;
		if (uv_fs_readlink(NULL, &request, path, NULL) == 0 &&
		    text_starts_with(request.ptr, "socket:["))
			text_list_add(out, request.ptr);
		uv_fs_req_cleanup(&request);
	}
}

/* "0100007F:1F90": 127.0.0.0/8, ::1, or the former as an IPv6 address. Four bytes are a word, whose bytes are in the order of the
 * machine: the last comes first. */
static bool is_of_this_host(const char *address)
{
	return (strcspn(address, ":") == 8 && text_starts_with(address + 6, "7F")) ||
	       text_starts_with(address, "00000000000000000000000001000000:") ||
	       (text_starts_with(address, "0000000000000000FFFF0000") &&
		text_starts_with(address + 30, "7F"));
}

static void judge_line(const char *line, const struct text_list *sockets, struct tally *ports)
{
	struct text_list parts CLEANUP_TEXT_LIST = {0};
	const char *fields[FIELDS] = {NULL};
	size_t count = 0;
	text_list_split(&parts, line, ' ');
	for (size_t i = 0; i < parts.count && count < FIELDS; i++)
		if (parts.items[i][0] != '\0')
			fields[count++] = parts.items[i];
	if (count < FIELDS || strcmp(fields[STATE], "0A") != 0)
		return;
	char *socket CLEANUP_FREE = text_format("socket:[%s]", fields[INODE]);
	const char *port = strchr(fields[LOCAL], ':');
	if (port == NULL || !text_list_has(sockets, socket))
		return;
	bool any = strspn(fields[LOCAL], "0") == strcspn(fields[LOCAL], ":");
	tally_add(ports, is_of_this_host(fields[LOCAL]), "port %ld on %s",
		  strtol(port + 1, NULL, 16), any ? "all addresses" : "an address of the node");
}

void security_ports(struct check_run *run)
{
	static const char *const tables[] = {"tcp", "tcp6"};
	struct rig *rig = rig_registered(run);
	const int pid = rig != NULL ? rig_process(rig) : 0;
	struct text_list sockets CLEANUP_TEXT_LIST = {0};
	TALLY(ports, run, "TCP ports on which the plugin listens",
	      "none, or only on 127.0.0.1 or ::1");
	if (rig == NULL)
		return;
	list_sockets(pid, &sockets);
	if (sockets.count == 0) {
		check_unsupported(run, "the plugin's sockets are unknown");
		return;
	}
	array_each (name, tables) {
		char *path CLEANUP_FREE = text_format("/proc/%d/net/%s", pid, *name);
		char *table CLEANUP_FREE = NULL;
		struct text_list lines CLEANUP_TEXT_LIST = {0};
		if (file_read(path, TABLE_MAX, &table, NULL, NULL) == 0)
			text_list_split(&lines, table, '\n');
		text_each (line, &lines)
			judge_line(line, &sockets, &ports);
	}
	if (ports.count == 0)
		(void)check_expect(run, true, ports.what, ports.wanted, "none");
}
