/* SPDX-License-Identifier: MIT */
#pragma once

/* What the bodies of suite "protocol" share: protocol.c has single calls, protocol_abuse.c the clients that
 * mean harm. */

#include "conformance/checks/raw_client.h"
#include "conformance/checks/rig_usage.h"
#include "conformance/checks/tally.h"

check_body protocol_foreign_bytes, protocol_slow_clients, protocol_abrupt_ends,
	protocol_client_goaway, protocol_reset_flood, protocol_header_flood;

/* The socket of the first resource under test. */
const char *protocol_socket(const struct rig *rig);

/* A connection to it; NULL: recorded, as `what`, or there is no rig. */
struct raw_client *protocol_open(struct rig *rig, const char *what);

/* After `what` the kubelet's own connections still work, and new ones are served. */
void protocol_expect_unharmed(struct rig *rig, const char *what);

/* A kubelet keeps one connection: what it sends over the connection's window needs the server's updates. */
void protocol_expect_window(struct rig *rig);
