/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/visibility.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <uv.h>

/* Variables of images and systems, which find programs and libraries. Any other one may hide a device,
 * whoever reads it. */
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

bool steering_remove(void)
{
	struct text_list found CLEANUP_TEXT_LIST = {0};

	for (size_t i = 0; environ[i] != NULL; i++) {
		char *name CLEANUP_FREE = memory_copy_start(environ[i], strcspn(environ[i], "="));
		/* Names have no case on Windows. */
		bool harmless = name[0] == '\0' || text_starts_with(name, "WINE");
		for (size_t k = 0; !harmless && k < ARRAY_SIZE(innocent); k++)
			harmless = strcasecmp(name, innocent[k]) == 0;
		if (!harmless)
			text_list_add(&found, name);
	}
	text_each (name, &found)
		(void)uv_os_unsetenv(name);
	return found.count != 0;
}

char *steering_make_caches(void)
{
	static const char *const caches[] = {"POCL_CACHE_DIR", "XDG_CACHE_HOME"};
	char *folder = NULL;

	if (file_make_temporary(NULL, "gpucert-cache-", &folder, NULL) != 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(caches); i++)
		(void)uv_os_setenv(caches[i], folder);
	return folder;
}
