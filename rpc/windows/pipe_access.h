/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"

#include <windows.h>

/* Admits to a named pipe whom `mode` says, as of a file: without bits for group and others its
 * owner, SYSTEM and Administrators, otherwise every user of this machine. Nobody comes in over the
 * network. The handle needs WRITE_DAC; all instances of the pipe share what is set. */
int pipe_access_set(HANDLE pipe, unsigned mode, struct error *err);
