/* SPDX-License-Identifier: MIT */
#include "conformance/checks/suites.h"

#include <stddef.h>

const struct check_suite *const suites[] = {
	&(const struct check_suite){"environment", "Environment", environment_checks},
	&(const struct check_suite){"registration", "Registration with the kubelet",
				    registration_checks},
	&(const struct check_suite){"list-and-watch", "Device lists", list_and_watch_checks},
	&(const struct check_suite){"health", "Devices that fail and come back", health_checks},
	&(const struct check_suite){"allocate", "Allocate", allocate_checks},
	&(const struct check_suite){"preferred-allocation", "Preferred allocation",
				    preferred_allocation_checks},
	&(const struct check_suite){"pre-start", "PreStartContainer", pre_start_checks},
	&(const struct check_suite){"sharing", "Devices that are offered several times",
				    sharing_checks},
	&(const struct check_suite){"security", "What a plugin gives away", security_checks},
	&(const struct check_suite){"windows", "Device strings and mounts on Windows",
				    windows_checks},
	&(const struct check_suite){"restart", "Restarts and resilience", restart_checks},
	&(const struct check_suite){"load", "Load and resources", load_checks},
	&(const struct check_suite){"protocol", "HTTP/2 and gRPC beyond the usual",
				    protocol_checks},
	&(const struct check_suite){"api", "GPU APIs inside containers", api_checks},
	&(const struct check_suite){"isolation", "Isolation between containers", isolation_checks},
#if GPUCERT_MODULE_IMAGES
	&(const struct check_suite){"image", "Images: prediction and outcome", image_checks},
#endif
	NULL,
};
