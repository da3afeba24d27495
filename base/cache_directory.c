/* SPDX-License-Identifier: MIT */
#include "base/cache_directory.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/program.h"

char *cache_directory(void)
{
	static const struct {
		const char *variable, *below;
	} places[] = {
		{"XDG_CACHE_HOME", "gpucert"},
		{"LOCALAPPDATA", "gpucert"},
		{"HOME", ".cache/gpucert"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const char *parent = program_variable(places[i].variable);
		if (parent != NULL && path_is_absolute(parent))
			return path_join(parent, places[i].below);
	}
	return NULL;
}
