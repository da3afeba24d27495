/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "containers/judging/compat/hcs_service.h"

const char *hcs_error_name(unsigned hresult)
{
	/* MicrosoftDocs/Virtualization-Documentation,
	 * virtualization/api/hcs/Reference/HCSHResult.md */
	static const struct {
		unsigned hresult;
		const char *name;
	} names[] = {
		{0x80370101, "HCS_E_IMAGE_MISMATCH"},
		{0x80370102, "HCS_E_HYPERV_NOT_INSTALLED"},
		{0x8037010d, "HCS_E_INVALID_JSON"},
		{0x80370113, "HCS_E_WINDOWS_INSIDER_REQUIRED"},
		{HCS_E_SERVICE_NOT_AVAILABLE_CODE, "HCS_E_SERVICE_NOT_AVAILABLE"},
		{HCS_E_ACCESS_DENIED_CODE, "HCS_E_ACCESS_DENIED"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].hresult == hresult)
			return names[i].name;
	}
	return NULL;
}

int hcs_error_set(struct error *err, const char *what, unsigned hresult)
{
	/* HRESULT_FROM_WIN32() of ERROR_ACCESS_DENIED, ERROR_SERVICE_DOES_NOT_EXIST and
	 * ERROR_SERVICE_NOT_ACTIVE. */
	enum { DENIED = 0x0005, NO_SERVICE = 0x0424, NOT_ACTIVE = 0x0426, WIN32 = 0x8007 };
	const char *name = hcs_error_name(hresult);
	unsigned win32 = hresult >> 16U == WIN32 ? hresult & 0xffffU : 0;
	int code = ERROR_UNAVAILABLE;
	if (hresult == HCS_E_ACCESS_DENIED_CODE || win32 == DENIED)
		code = ERROR_PERMISSION;
	else if (hresult == HCS_E_SERVICE_NOT_AVAILABLE_CODE || win32 == NO_SERVICE ||
		 win32 == NOT_ACTIVE)
		code = ERROR_UNSUPPORTED;
	return error_set(err, code, "%s: 0x%08X%s%s%s", what, hresult, name != NULL ? " (" : "",
			 name != NULL ? name : "", name != NULL ? ")" : "");
}
