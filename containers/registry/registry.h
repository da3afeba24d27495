/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct registry_options {
	bool plain_http;	    /* HTTP where the registry does not speak TLS */
	const char *ca_certificate; /* PEM file that is trusted as well as the system's; or NULL */
};
