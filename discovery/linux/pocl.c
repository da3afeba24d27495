/* SPDX-License-Identifier: MIT */
/*
 * PoCL compiles kernels inside the process and then links them with the system's linker, the way a
 * compiler driver links a shared library: `ld -shared ... -lm -lgcc -lgcc_s -lc`, looking for these
 * libraries in GCC's own directory and in the library directories of the system.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "discovery/linux/link_tools.h"

static bool pocl_exists(const struct runtime *runtime, const char *path)
{
	char *local CLEANUP_FREE = places_local(runtime->node->places, path);

	return local != NULL && file_exists(local);
}

/* A path beside the library, at the place where links in its directory lead. */
static int pocl_beside(const struct runtime *runtime, const char *library, const char *relative,
		       char **out, struct error *err)
{
	char *directory CLEANUP_FREE = path_directory(library);
	char *resolved CLEANUP_FREE = NULL;
	char *joined CLEANUP_FREE = NULL;
	int rc = directory == NULL
			 ? error_memory(err)
			 : file_resolve(runtime->node->places->root, directory, &resolved, err);

	if (rc < 0)
		return rc;
	joined = path_join(resolved, relative);
	*out = joined != NULL ? path_normalize(joined) : NULL;
	return *out != NULL ? 0 : error_memory(err);
}

/* Bitcode of the built-in functions and headers: "share/pocl" of the prefix that the library is in,
 * which PoCL reaches from the library's directory. */
static int pocl_add_data(struct runtime *runtime, const char *library, struct error *err)
{
	static const char *const relatives[] = {"../../share/pocl", "../share/pocl"};

	for (size_t i = 0; i < ARRAY_SIZE(relatives); i++) {
		char *path CLEANUP_FREE = NULL;
		int rc = pocl_beside(runtime, library, relatives[i], &path, err);

		if (rc < 0)
			return rc;
		if (pocl_exists(runtime, path))
			return runtime_add_directory(runtime, path, "driver-data", err);
	}
	return error_set(err, ERROR_NOT_FOUND, "%s: no directory share/pocl belongs to it",
			 library);
}

/* The directory "pocl" beside the library holds one library a device type; they are loaded by name.
 * Builds with everything in one library have no such directory. */
static int pocl_add_device_libraries(struct runtime *runtime, const char *library,
				     struct error *err)
{
	char *directory CLEANUP_FREE = NULL;
	char *local CLEANUP_FREE = NULL;
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = pocl_beside(runtime, library, "pocl", &directory, err);

	if (rc < 0 || !pocl_exists(runtime, directory))
		return rc;
	local = places_local(runtime->node->places, directory);
	rc = local == NULL ? error_memory(err) : file_list(local, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(directory, names.items[i]);

		if (path == NULL)
			return error_memory(err);
		if (text_glob("libpocl-devices-*.so", names.items[i]))
			rc = runtime_add_library(runtime, path, "device-library", err);
	}
	return rc;
}

int runtime_add_pocl(struct runtime *runtime, const char *library, struct error *err)
{
	int rc = pocl_add_data(runtime, library, err);

	if (rc == 0)
		rc = pocl_add_device_libraries(runtime, library, err);
	return rc < 0 ? rc : runtime_add_link_tools(runtime, err);
}
