/* SPDX-License-Identifier: MIT */
#pragma once

/* Where gpucert keeps what it can fetch or compute again: "$XDG_CACHE_HOME/gpucert", "~/.cache/gpucert", on
 * Windows below %LOCALAPPDATA%. NULL: no such folder is known, or memory ran out. Caller frees. */
char *cache_directory(void);
