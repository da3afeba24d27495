/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "discovery/linux/node.h"
#include "discovery/linux/sysfs.h"

#include <string.h>
#include <sys/utsname.h>

enum { OS_RELEASE_MAX = 64 * 1024 };

/* The value of a key in os-release(5), without its quotes; "" when it is not there. */
static const char *system_value(struct builder *builder, const char *text, const char *key)
{
	size_t key_size = strlen(key);
	for (const char *line = text; *line != '\0';
	     line += strcspn(line, "\n"), line += *line != 0) {
		const char *value = line + key_size;
		if (strncmp(line, key, key_size) != 0)
			continue;
		size_t size = strcspn(value, "\n");
		if (size >= 2 && (value[0] == '"' || value[0] == '\'') &&
		    value[size - 1] == value[0]) {
			value++;
			size -= 2;
		}
		return text_is_utf8(value, size) ? builder_format(builder, "%.*s", (int)size, value)
						 : "";
	}
	return "";
}

void system_describe(struct node *node)
{
	static const char *const files[] = {"/etc/os-release", "/usr/lib/os-release"};
	struct discovery_system *system = &node->builder->snapshot.system;
	struct utsname name = {0};
	*system = (struct discovery_system){
		.os = "linux",
		.product = "",
		.version = "",
		.enumerator = "",
		.emulator = "",
	};
	for (size_t i = 0; i < ARRAY_SIZE(files) && system->product[0] == '\0'; i++) {
		char *path CLEANUP_FREE = places_local(node->places, files[i]);
		char *text CLEANUP_FREE = NULL;
		if (path == NULL || file_read(path, OS_RELEASE_MAX, &text, NULL, NULL) < 0)
			continue;
		system->product = system_value(node->builder, text, "PRETTY_NAME=");
		system->version = system_value(node->builder, text, "VERSION_ID=");
	}
	system->build = sysfs_text(node->builder, node->places->proc, "sys/kernel/osrelease");
	system->kernel_build = sysfs_text(node->builder, node->places->proc, "sys/kernel/version");
	system->architecture = sysfs_text(node->builder, node->places->proc, "sys/kernel/arch");
	if (system->architecture[0] == '\0' && uname(&name) == 0)
		system->architecture = builder_string(node->builder, name.machine);
	node->kernel = system->build;
}
