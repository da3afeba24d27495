/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/visibility.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <uv.h>

/* Set by images and systems, not by drivers: they find programs and libraries. Any other variable may
 * hide a device, whoever reads it. */
static const char *const innocent[] = {
	"PATH",
	"HOME",
	"LD_LIBRARY_PATH",
	"HOSTNAME",
	"LANG",
	"LOGNAME",
	"PWD",
	"SHELL",
	"SHLVL",
	"TERM",
	"TMPDIR",
	"USER",
	"_",
	/* Windows */
	"ALLUSERSPROFILE",
	"APPDATA",
	"COMPUTERNAME",
	"COMSPEC",
	"LOCALAPPDATA",
	"OS",
	"PATHEXT",
	"PROGRAMDATA",
	"PROGRAMFILES",
	"PUBLIC",
	"SYSTEMDRIVE",
	"SYSTEMROOT",
	"TEMP",
	"TMP",
	"USERDOMAIN",
	"USERNAME",
	"USERPROFILE",
	"WINDIR",
};

/* Names have no case on Windows. */
static bool is_innocent(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(innocent); i++) {
		if (strcasecmp(name, innocent[i]) == 0)
			return true;
	}
	return name[0] == '\0' || text_starts_with(name, "WINE");
}

int steering_remove(bool *steered, struct error *err)
{
	struct text_list found CLEANUP_TEXT_LIST = {0};
	int rc = 0;
	for (size_t i = 0; rc == 0 && environ[i] != NULL; i++) {
		char *name CLEANUP_FREE = strndup(environ[i], strcspn(environ[i], "="));
		if (name == NULL)
			rc = error_memory(err);
		else if (!is_innocent(name))
			rc = text_list_add(&found, name, err);
	}
	for (size_t i = 0; rc == 0 && i < found.count; i++)
		if (uv_os_unsetenv(found.items[i]) != 0)
			rc = error_memory(err);
	*steered = found.count != 0;
	return rc;
}

int steering_make_caches(char **folder, struct error *err)
{
	static const char *const caches[] = {"POCL_CACHE_DIR", "XDG_CACHE_HOME"};
	int rc = file_make_temporary(NULL, "gpucert-cache-", folder, NULL);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(caches); i++) {
		if (uv_os_setenv(caches[i], *folder) != 0)
			return error_memory(err);
	}
	return 0;
}
