/* SPDX-License-Identifier: MIT */
#include "conformance/checks/suites.h"

#include <stddef.h>

const struct check_suite *const suites[] = {
	&suite_environment, &suite_registration, &suite_list_and_watch,
	&suite_allocate,    &suite_windows,	 &suite_restart,
	&suite_api,	    &suite_isolation,	 NULL,
};
