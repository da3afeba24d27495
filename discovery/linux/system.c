/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "discovery/linux/node.h"
#include "discovery/linux/sysfs.h"

#include <string.h>
#include <sys/utsname.h>

enum { OS_RELEASE_MAX = 64 * 1024 };

/* The value of PRETTY_NAME in os-release(5), without its quotes. */
static const char *system_product(struct builder *builder, char *text)
{
	static const char key[] = "PRETTY_NAME=";
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (!text_starts_with(line, key))
			continue;
		char *value = line + sizeof(key) - 1;
		size_t size = strlen(value);

		if (size >= 2 && (value[0] == '"' || value[0] == '\'') &&
		    value[size - 1] == value[0]) {
			value[size - 1] = '\0';
			value++;
		}
		return text_is_utf8(value, strlen(value)) ? builder_string(builder, value) : "";
	}
	return "";
}

void system_describe(struct node *node)
{
	static const char *const files[] = {"/etc/os-release", "/usr/lib/os-release"};
	struct discovery_system *system = &node->builder->system;
	struct utsname name = {0};

	*system = (struct discovery_system){"linux", "", "", "", "", ""};
	for (size_t i = 0; i < ARRAY_SIZE(files) && system->product[0] == '\0'; i++) {
		char *path CLEANUP_FREE = places_local(node->places, files[i]);
		char *text CLEANUP_FREE = NULL;

		if (path != NULL && file_read(path, OS_RELEASE_MAX, &text, NULL, NULL) == 0)
			system->product = system_product(node->builder, text);
	}
	system->build = sysfs_text(node->builder, node->places->proc, "sys/kernel/osrelease");
	system->architecture = sysfs_text(node->builder, node->places->proc, "sys/kernel/arch");
	if (system->architecture[0] == '\0' && uname(&name) == 0)
		system->architecture = builder_string(node->builder, name.machine);
	node->kernel = system->build;
}
