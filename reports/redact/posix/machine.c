/* SPDX-License-Identifier: MIT */
#include "reports/redact/redact_internal.h"

#include "base/file.h"
#include "base/memory.h"

#include <string.h>
#include <strings.h>

enum { UUID_SIZE = 36, NAMES_MAX = 64 * 1024 };

/* Files that hold one serial number each. */
static const char *const files[] = {
	"/sys/class/dmi/id/board_serial",
	"/sys/class/dmi/id/chassis_serial",
	"/sys/class/dmi/id/product_serial",
	"/sys/class/dmi/id/product_uuid",
	"/sys/firmware/devicetree/base/serial-number",
	"/var/lib/dbus/machine-id",
	"/proc/sys/kernel/random/boot_id",
	NULL,
};

/* The same, below each entry of a folder. */
static const struct {
	const char *folder, *file;
} folders[] = {
	{"/sys/block", "serial"},
	{"/sys/block", "wwid"},
	{"/sys/block", "device/serial"},
	{"/sys/block", "device/wwid"},
	{"/sys/class/net", "address"},
	{"/sys/class/drm", "device/unique_id"},
	{"/proc/driver/nvidia/gpus", "information"},
};

/* From a file with many lines takes the UUID that the NVIDIA driver reports. */
static int add_file(struct redactor *redactor, const char *path, struct error *err)
{
	char *text CLEANUP_FREE = NULL;
	if (file_read_line(path, &text, NULL) < 0)
		return 0;
	const char *uuid = strstr(text, "GPU-");
	char *own CLEANUP_FREE =
		uuid != NULL ? memory_copy_start(uuid + 4, UUID_SIZE) : memory_copy(text);
	return strchr(own, '\n') == NULL ? redactor_add(redactor, REDACT_SERIAL, own, err) : 0;
}

/* "search corp.example" names the host's possible domains (resolv.conf(5)); other words may be its names. */
static int add_full_names(struct redactor *redactor, const char *host, char *line,
			  struct error *err)
{
	char *rest = NULL;
	const char *word = strtok_r(line, " \t", &rest);
	const bool domains = text_equal(word, "search") || text_equal(word, "domain");
	const size_t size = strlen(host);
	int rc = 0;
	while (rc == 0 && (word = strtok_r(NULL, " \t", &rest)) != NULL) {
		char *name CLEANUP_FREE =
			domains ? text_format("%s.%s", host, word) : memory_copy(word);
		if (strncasecmp(name, host, size) == 0 && name[size] == '.')
			rc = redactor_add(redactor, REDACT_HOST, name, err);
	}
	return rc;
}

int redactor_add_machine(struct redactor *redactor, const char *host, struct error *err)
{
	static const char *const sources[] = {"/etc/hosts", "/etc/resolv.conf"};
	char *machine CLEANUP_FREE = NULL;
	int rc = 0;

	/* The host's name with a domain, as in hosts(5), or as it may be looked up. */
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		char *text CLEANUP_FREE = NULL;
		char *rest = NULL;
		if (redact_is_generic(redactor, host, strlen(host)) ||
		    file_read(sources[i], NAMES_MAX, &text, NULL, NULL) < 0)
			continue;
		for (char *line = strtok_r(text, "\n", &rest); rc == 0 && line != NULL;
		     line = strtok_r(NULL, "\n", &rest))
			rc = add_full_names(redactor, host, line, err);
	}

	if (rc == 0 && file_read_line("/etc/machine-id", &machine, NULL) == 0 &&
	    machine[0] != '\0') {
		redactor_set_key(redactor, machine);
		rc = redactor_add(redactor, REDACT_SERIAL, machine, err);
	}
	for (size_t i = 0; rc == 0 && files[i] != NULL; i++)
		rc = add_file(redactor, files[i], err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(folders); i++) {
		struct text_list entries CLEANUP_TEXT_LIST = {0};
		if (file_list(folders[i].folder, &entries, NULL) < 0)
			continue;
		text_each (entry, &entries) {
			char *path CLEANUP_FREE =
				text_format("%s/%s/%s", folders[i].folder, entry, folders[i].file);
			if (rc == 0)
				rc = add_file(redactor, path, err);
		}
	}
	return rc;
}
