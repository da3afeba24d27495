/* SPDX-License-Identifier: MIT */
#include "rpc/tests/raw.h"

#include "rpc/windows/winsock.h"

#include <aclapi.h>
#include <sddl.h>
#include <string.h>

struct raw raw_connect(struct rig *rig)
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

void raw_write(struct raw raw, const void *bytes, size_t size)
{
	CU_ASSERT(send((SOCKET)raw.object, bytes, (int)size, 0) == (int)size);
}

bool raw_was_closed(struct raw raw)
{
	u_long non_blocking = 1;
	char byte = 0;
	int size = 0;
	(void)ioctlsocket((SOCKET)raw.object, (long)FIONBIO, &non_blocking);
	do
		size = recv((SOCKET)raw.object, &byte, 1, 0);
	while (size > 0);
	/* A server that closes with bytes of ours unread resets. */
	return size == 0 || WSAGetLastError() == WSAECONNRESET;
}

void raw_close(struct raw raw)
{
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
	PSECURITY_DESCRIPTOR descriptor = NULL;
	char *list = NULL;
	bool known = GetNamedSecurityInfoA(rig->path, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION,
					   NULL, NULL, NULL, NULL, &descriptor) == ERROR_SUCCESS;
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
