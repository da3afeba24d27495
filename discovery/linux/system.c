/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/os_version.h"
#include "discovery/linux/node.h"
#include "discovery/linux/sysfs.h"

#include <string.h>
#include <sys/utsname.h>

enum { OS_RELEASE_MAX = 64 * 1024 };

/* "" for a value that is missing or not UTF-8. */
static const char *value_of(struct builder *builder, const char *text, const char *key)
{
	char *value CLEANUP_FREE = os_release_value(text, key);
	bool valid = value != NULL && text_is_utf8(value, strlen(value));

	return builder_string(builder, valid ? value : "");
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
		char *text CLEANUP_FREE = NULL;

		if (file_read(node_local(node, files[i]), OS_RELEASE_MAX, &text, NULL, NULL) < 0)
			continue;
		system->product = value_of(node->builder, text, "PRETTY_NAME=");
		system->version = value_of(node->builder, text, "VERSION_ID=");
	}
	system->build = sysfs_text(node->builder, node->places->proc, "sys/kernel/osrelease");
	system->kernel_build = sysfs_text(node->builder, node->places->proc, "sys/kernel/version");
	system->architecture = sysfs_text(node->builder, node->places->proc, "sys/kernel/arch");
	if (system->architecture[0] == '\0' && uname(&name) == 0)
		system->architecture = builder_string(node->builder, name.machine);
	node->kernel = system->build;
}
