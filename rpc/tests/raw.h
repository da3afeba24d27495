/* SPDX-License-Identifier: MIT */
#pragma once

/* Connections to the server of a rig without HTTP/2, written to with the system's own calls. */

#include "rpc/tests/rig.h"

struct raw {
	intptr_t object; /* a descriptor or SOCKET */
};

struct raw raw_connect(struct rig *rig); /* behind a greeting where one is due */
void raw_write(struct raw raw, const void *bytes, size_t size);
/* Reads what is there without waiting; true when the end was behind it. */
bool raw_was_closed(struct raw raw);
void raw_close(struct raw raw);

/* May nobody but its owner, and who administers the machine, connect to the rig's server? */
bool raw_is_private(struct rig *rig);

size_t raw_handle_count(void); /* descriptors or handles that this process holds */
