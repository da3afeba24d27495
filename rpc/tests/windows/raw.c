/* SPDX-License-Identifier: MIT */
#include "rpc/tests/raw.h"

#include "rpc/loop.h"
#include "rpc/windows/winsock.h"

#include <aclapi.h>
#include <sddl.h>
#include <string.h>

enum { PATIENCE = 1000 };

/* A pipe is busy until its server's loop has made the next instance. */
static struct raw connect_pipe(struct rig *rig)
{
	HANDLE pipe = INVALID_HANDLE_VALUE;
	for (int i = 0; i < PATIENCE && pipe == INVALID_HANDLE_VALUE; i++) {
		pipe = CreateFileA(rig->path, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING,
				   0, NULL);
		if (pipe == INVALID_HANDLE_VALUE)
			loop_run_for(&rig->loop, 1);
	}
	CU_ASSERT_FATAL(pipe != INVALID_HANDLE_VALUE);
	return (struct raw){.object = (intptr_t)pipe, .is_pipe = true};
}

static struct raw connect_file(const struct rig *rig)
{
	bool has_unix = winsock_has_unix();
	SOCKET made = socket(has_unix ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
	struct raw raw = {.object = (intptr_t)made};
	struct rendezvous rendezvous = {0};
	union winsock_address address;
	if (!has_unix)
		CU_ASSERT_FATAL(rendezvous_read(rig->path, &rendezvous, NULL) == 0);
	int size = has_unix ? winsock_unix_address(rig->path, &address)
			    : winsock_port_address(rendezvous.port, &address);
	CU_ASSERT_FATAL(connect(made, &address.any, size) == 0);
	if (!has_unix)
		raw_write(raw, rendezvous.nonce, sizeof(rendezvous.nonce));
	return raw;
}

struct raw raw_connect(struct rig *rig)
{
	return rig->is_pipe ? connect_pipe(rig) : connect_file(rig);
}

void raw_write(struct raw raw, const void *bytes, size_t size)
{
	DWORD written = 0;
	if (raw.is_pipe) {
		CU_ASSERT(WriteFile((HANDLE)raw.object, bytes, (DWORD)size, &written, NULL));
		CU_ASSERT(written == size);
	} else {
		CU_ASSERT(send((SOCKET)raw.object, bytes, (int)size, 0) == (int)size);
	}
}

static bool pipe_was_closed(HANDLE pipe)
{
	DWORD waiting = 0;
	DWORD got = 0;
	char byte = 0;
	while (PeekNamedPipe(pipe, NULL, 0, NULL, &waiting, NULL)) {
		if (waiting == 0)
			return false;
		(void)ReadFile(pipe, &byte, 1, &got, NULL);
	}
	return true;
}

bool raw_was_closed(struct raw raw)
{
	u_long non_blocking = 1;
	char byte = 0;
	int size = 0;
	if (raw.is_pipe)
		return pipe_was_closed((HANDLE)raw.object);
	(void)ioctlsocket((SOCKET)raw.object, (long)FIONBIO, &non_blocking);
	do
		size = recv((SOCKET)raw.object, &byte, 1, 0);
	while (size > 0);
	/* A server that closes with bytes of ours unread resets. */
	return size == 0 || WSAGetLastError() == WSAECONNRESET;
}

void raw_close(struct raw raw)
{
	if (raw.is_pipe)
		(void)CloseHandle((HANDLE)raw.object);
	else
		(void)closesocket((SOCKET)raw.object);
}

/* Everyone, users, guests, who is logged on, anonymous: none of them has a right. */
static bool is_private_list(const char *list)
{
	static const char *const strangers[] = {"WD)", "BU)", "BG)", "AU)", "IU)", "AN)"};
	for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
		if (strstr(list, strangers[i]) != NULL)
			return false;
	}
	return strstr(list, "(A;") != NULL;
}

bool raw_is_private(struct rig *rig)
{
	struct raw pipe = {0};
	PSECURITY_DESCRIPTOR descriptor = NULL;
	char *list = NULL;
	bool known = false;
	if (rig->is_pipe) {
		pipe = connect_pipe(rig);
		known = GetSecurityInfo((HANDLE)pipe.object, SE_KERNEL_OBJECT,
					DACL_SECURITY_INFORMATION, NULL, NULL, NULL, NULL,
					&descriptor) == ERROR_SUCCESS;
		raw_close(pipe);
	} else {
		known = GetNamedSecurityInfoA(rig->path, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION,
					      NULL, NULL, NULL, NULL, &descriptor) == ERROR_SUCCESS;
	}
	known = known &&
		ConvertSecurityDescriptorToStringSecurityDescriptorA(
			descriptor, SDDL_REVISION_1, DACL_SECURITY_INFORMATION, &list, NULL);
	(void)printf("access list: %s\n", known ? list : "unknown");
	known = known && is_private_list(list);
	(void)LocalFree(list);
	(void)LocalFree(descriptor);
	return known;
}

size_t raw_handle_count(void)
{
	DWORD count = 0;
	CU_ASSERT(GetProcessHandleCount(GetCurrentProcess(), &count));
	return count;
}
