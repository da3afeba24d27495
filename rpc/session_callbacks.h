/* SPDX-License-Identifier: MIT */
#pragma once

/* What nghttp2 calls while it reads and writes: keeps the exchanges of a session up to date. */

#include "rpc/session.h"

/* Bytes after which session_produce() stops: one good write. */
enum { SESSION_OUTPUT_MAX = 64 * 1024 };

void session_set_callbacks(nghttp2_session_callbacks *callbacks);
