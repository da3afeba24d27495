/* SPDX-License-Identifier: MIT */
#pragma once

/* Entries of a grant, for tests. */

#include "containers/grant/grant.h"

#define VARIABLE(name_, value_)                                                                    \
	{                                                                                          \
		.name = (name_), .value = (value_)                                                 \
	}
#define MOUNT(host_, container_, read_only_)                                                       \
	{                                                                                          \
		.host_path = (host_), .container_path = (container_), .read_only = (read_only_)    \
	}
#define DEVICE(host_, container_, permissions_)                                                    \
	{                                                                                          \
		.host_path = (host_), .container_path = (container_),                              \
		.permissions = (permissions_)                                                      \
	}
