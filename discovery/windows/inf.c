/* SPDX-License-Identifier: MIT */
#include "discovery/windows/inf.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/library.h"
#include "base/path.h"
#include "base/text.h"
#include "base/windows/wide.h"
#include "base/windows_path.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { INF_MAX = 8 * 1024 * 1024, STORE_PATH_UNITS = 1024 };

typedef BOOL(WINAPI *inf_store_location)(const WCHAR *inf, const void *platform,
					 const WCHAR *locale, WCHAR *out, DWORD units,
					 DWORD *needed);

/* MinGW-w64 does not declare SetupGetInfDriverStoreLocationW(). */
static char *inf_ask(const char *installed)
{
	wchar_t *wide CLEANUP_FREE = wide_from_utf8(installed);
	WCHAR store[STORE_PATH_UNITS] = L"";
	inf_store_location ask = NULL;
	void *library = NULL;
	DWORD units = 0;

	if (wide == NULL || library_open("setupapi.dll", &library, NULL) < 0 ||
	    library_function(library, "SetupGetInfDriverStoreLocationW", &ask, NULL) < 0 ||
	    !ask(wide, NULL, NULL, store, STORE_PATH_UNITS - 1, &units))
		return NULL;
	char *inf CLEANUP_FREE = wide_to_utf8(store);
	if (inf == NULL || !file_exists(inf))
		return NULL;
	return path_directory(inf);
}

int inf_store_path(const char *inf, const char *windows, char **out, struct error *err)
{
	if (!windows_path_is_name(inf))
		return error_set(err, ERROR_NOT_FOUND,
				 inf[0] == '\0' ? "the driver key names no INF"
						: "'%s' is not the name of an INF",
				 inf);
	char *installed CLEANUP_FREE = text_format("%s\\INF\\%s", windows, inf);
	char *repository CLEANUP_FREE =
		text_format("%s\\System32\\DriverStore\\FileRepository", windows);
	if (installed == NULL || repository == NULL)
		return error_memory(err);
	*out = inf_ask(installed);
	if (*out != NULL)
		return 0;

	struct text_list folders CLEANUP_TEXT_LIST = {0};
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read(installed, INF_MAX, &data, &size, err);
	if (rc == 0)
		rc = file_list(repository, &folders, err);
	if (rc < 0)
		return rc;
	text_each (name, &folders) {
		/* The folder "nvgridsw_aws.inf_amd64_1b50ef32b191cff1" holds "nvgridsw_aws.inf". */
		const char *end = strstr(name, ".inf_");
		if (end == NULL)
			continue;
		char *folder CLEANUP_FREE = path_join(repository, name);
		char *copy CLEANUP_FREE =
			text_format("%s\\%s\\%.*s.inf", repository, name, (int)(end - name), name);
		char *other CLEANUP_FREE = NULL;
		size_t other_size = 0;
		if (folder != NULL && copy != NULL &&
		    file_read(copy, INF_MAX, &other, &other_size, NULL) == 0 &&
		    other_size == size && memcmp(other, data, size) == 0) {
			*out = STEAL(folder);
			return 0;
		}
	}
	return error_set(err, ERROR_NOT_FOUND, "no folder of %s holds %s", repository, installed);
}
