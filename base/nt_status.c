/* SPDX-License-Identifier: MIT */
#include "base/nt_status.h"

#include "base/cleanup.h"

/* Microsoft: [MS-ERREF] 2.3.1 NTSTATUS values. */
enum { NT_STATUS_CONTROL_C_EXIT = (int)0xC000013A };

bool nt_status_is_exception(int exit_code)
{
	return ((uint32_t)exit_code & 0xF0000000U) == 0xC0000000U &&
	       exit_code != NT_STATUS_CONTROL_C_EXIT;
}

const char *nt_status_name(int exit_code)
{
	static const struct {
		uint32_t status;
		const char *name;
	} known[] = {
		{0xC0000005U, "access violation"},
		{0xC0000006U, "in-page error"},
		{0xC0000017U, "no memory"},
		{0xC000001DU, "illegal instruction"},
		{0xC0000025U, "noncontinuable exception"},
		{0xC0000094U, "integer division by zero"},
		{0xC00000FDU, "stack overflow"},
		{0xC0000135U, "a DLL was not found"},
		{0xC0000139U, "a DLL lacks an entry point"},
		{0xC0000142U, "a DLL failed to initialise"},
		{0xC000007BU, "invalid image format"},
		{0xC0000374U, "heap corruption"},
		{0xC0000409U, "fail fast"},
		{0xC0000417U, "invalid C runtime parameter"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (known[i].status == (uint32_t)exit_code)
			return known[i].name;
	}
	return "unhandled exception";
}
