/* SPDX-License-Identifier: MIT */
#pragma once

#include <gpucert/discovery.h>

/*
 * Prints the devices of a node, and then every change, as JSON lines on stdout until SIGINT or
 * SIGTERM:
 * {"time":"...","event":"added","device":{...}}, the event being one of added, removed, changed. A
 * node that cannot be read at some moment, as while a file is written, is tried again. ERROR_IO
 * when stdout fails, and everything that the first discovery_take() returns.
 */
int follow_run(const struct discovery_options *options, unsigned poll_ms, struct error *err);
