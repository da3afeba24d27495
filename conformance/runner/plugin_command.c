/* SPDX-License-Identifier: MIT */
#include "conformance/runner/plugin_command.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "base/text.h"
#include "containers/offers.h"

#include <uv.h>

enum { MAY_EXECUTE = 1 }; /* access() */

/* A word of a command line, quoted by the rules of every system. */
static void add_quoted(struct text *command, const char *word)
{
	text_add(command, "'");
	for (size_t i = 0; word[i] != '\0'; i++) {
		if (word[i] == '\'')
			text_add(command, "'\"'\"'");
		else
			text_append(command, word + i, 1);
	}
	text_add(command, "'");
}

int plugin_command_reference(const struct discovery_snapshot *node, const char *node_file,
			     char **out, struct error *err)
{
	const char *relative = text_equal(node->system.os, "windows")
				       ? "../bin/device-plugin-wddm" PATH_PROGRAM_SUFFIX
				       : "../bin/device-plugin-gpu" PATH_PROGRAM_SUFFIX;
	char *path CLEANUP_FREE = NULL;
	struct text command CLEANUP_TEXT = {0};
	uv_fs_t request;
	int rc = path_beside_program(relative, &path, err);
	if (rc < 0)
		return rc;

	int status = uv_fs_access(NULL, &request, path, MAY_EXECUTE, NULL);
	uv_fs_req_cleanup(&request);
	if (status < 0)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s: the reference plugin cannot be run (%s); name a plugin with "
				 "--plugin",
				 path, uv_strerror(status));

	add_quoted(&command, path);
	text_add(&command, " --plugin-dir {plugin-dir} --include-integrated=true "
			   "--include-detachable=true");
	if (node_file != NULL) {
		text_add(&command, " --node ");
		add_quoted(&command, node_file);
	}
	*out = text_take(&command);
	return 0;
}

int plugin_command_wine(const struct wine_node *wine, char **out, struct error *err)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	struct text command CLEANUP_TEXT = {0};
	char *relay CLEANUP_FREE = NULL;
	char *plugin CLEANUP_FREE = NULL;
	if (!OFFERS_WINE_NODE)
		return error_set(err, ERROR_UNSUPPORTED, "the Wine node needs Linux");

	char *variable CLEANUP_FREE = wine_node_environment(wine);
	int rc = path_of_helper("wine-relay", &relay, err);
	if (rc == 0)
		rc = wine_node_program(wine, WINE_NODE_PLUGIN, &plugin, err);
	if (rc < 0)
		return rc;
	wine_node_command(wine, 0, &words);

	add_quoted(&command, relay);
	text_add(&command, " {plugin-dir} -- env ");
	add_quoted(&command, variable);
	text_each (word, &words) {
		text_add(&command, " ");
		add_quoted(&command, word);
	}
	text_add(&command, " ");
	add_quoted(&command, plugin);
	text_add(&command, " --plugin-dir {wine-plugin-dir} --include-integrated=true "
			   "--include-detachable=true");
	*out = text_take(&command);
	return 0;
}
