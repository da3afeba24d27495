/* SPDX-License-Identifier: MIT */
#pragma once

/* "EPERM"; "errno N", written to `out`, for a code that is not in the table (nodes.c). */
const char *errno_name(int code, char out[32]);
