/* SPDX-License-Identifier: MIT */
#include "containers/judging/compat/hcs_service.h"

int hcs_service_ask(struct hcs_service *out, struct error *err)
{
	*out = (struct hcs_service){0};
	return error_set(
		err, ERROR_UNSUPPORTED,
		"the Host Compute Service is a part of Windows, and this is another system");
}
