/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Device ids as the kubelet sees them: "<device id>::<replica>". The suffix is always there, so an
 * id stays the same when the number of replicas changes.
 */

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* 63 characters, which is what the comments of api.proto allow, and the NUL: room for 55 of the
 * device id and for as many replicas as there can be. */
enum { REPLICA_ID_SIZE = 64 };

void replica_id_format(const char *device_id, uint32_t replica, char out[REPLICA_ID_SIZE]);

/* Splits an id that came from the wire: the device id is its first *device_length bytes. A replica
 * is written in decimal without leading zeros. ERROR_ARGUMENT names the id, escaped. */
int replica_id_parse(const char *id, size_t *device_length, uint32_t *replica, struct error *err);

/* An untrusted id for an error message: escaped, quoted, cut when it is long. Returns `out`. */
enum { REPLICA_ID_QUOTED_SIZE = 160 };
const char *replica_id_quote(const char *id, char out[REPLICA_ID_QUOTED_SIZE]);
