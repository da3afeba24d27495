/* SPDX-License-Identifier: MIT */
#pragma once

/* What every system's transports share. */

#include "rpc/transport.h"

/* Tells the end of connecting to the pipe transport->address.name, or the libuv status that it
 * failed with. */
void transport_tell(struct transport *transport, int uv_status);

/* Makes transport->pipe and connects it to transport->address. */
int transport_connect_pipe(struct transport *transport, uv_loop_t *loop, struct error *err);
