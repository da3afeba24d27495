/* SPDX-License-Identifier: MIT */
#pragma once

/* Asks the Host Compute Service of this machine. */

#include "containers/judging/compat/hcs_versions.h"

struct hcs_service {
	const char *library;	  /* that answered: "computecore.dll" or "vmcompute.dll" */
	char library_version[32]; /* "" when unknown */
	struct hcs_versions versions;
};

/*
 * HcsGetServiceProperties() of computecore.dll, or of vmcompute.dll if the former is missing or
 * too old. ERROR_UNSUPPORTED: this machine has no such service (it is not Windows, the libraries are
 * missing, or the feature "Containers" is not installed); ERROR_PERMISSION; ERROR_UNAVAILABLE: the
 * service failed, with the HRESULT and its name; and those of hcs_versions_parse().
 */
int hcs_service_ask(struct hcs_service *out, struct error *err);

/* HRESULTs of the service that determine the error code. */
#define HCS_E_SERVICE_NOT_AVAILABLE_CODE 0x80370114U
#define HCS_E_ACCESS_DENIED_CODE	 0x8037011bU

/* "HCS_E_ACCESS_DENIED"; NULL: not a HRESULT of the service. */
const char *hcs_error_name(unsigned hresult);

/* Sets "what: 0x80370114 (HCS_E_SERVICE_NOT_AVAILABLE)" and returns the error code for it. */
int hcs_error_set(struct error *err, const char *what, unsigned hresult);
