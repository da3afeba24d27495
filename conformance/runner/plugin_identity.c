/* SPDX-License-Identifier: MIT */
#include "conformance/runner/plugin_identity.h"

#include "base/members.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/process.h"
#include "base/running_program.h"
#include "conformance/subject/plugin_process.h"

#include <string.h>
#include <uv.h>

enum { FILES_MAX = 64 };

/* Programs that run a plugin; digits and dots at the end of their names are ignored. */
static const char *const interpreters[] = {
	"bash",	 "bun",	 "busybox", "dash",   "deno", "dotnet", "env",	  "guile", "java",
	"julia", "ksh",	 "lua",	    "luajit", "mono", "node",	"nodejs", "perl",  "php",
	"pwsh",	 "pypy", "python",  "ruby",   "sh",   "tclsh",	"wine",	  "zsh",   NULL,
};

void plugin_identity_free(struct plugin_identity *identity)
{
	free(identity->name);
	free(identity->unknown);
	digest_set_free(&identity->files);
	text_list_free(&identity->resources);
	*identity = (struct plugin_identity){0};
}

/* Sets the name of the plugin, and what is unknown about it. */
static void set_name(struct plugin_identity *identity, const char *program, const char *script)
{
	size_t size = strlen(program);
	while (size > 0 && strchr("0123456789.", program[size - 1]) != NULL)
		size--;
	char *plain CLEANUP_FREE = memory_copy_start(program, size);
	bool runs_another = interpreters[text_position(interpreters, plain)] != NULL;

	free(identity->name);
	free(identity->unknown);
	identity->unknown = NULL;
	if (runs_another && script != NULL)
		identity->name = text_format("%s (%s)", script, program);
	else
		identity->name = memory_copy(program);
	if (runs_another && script == NULL)
		identity->unknown =
			text_format("what %s runs: none of its words is a file", program);
}

/* Adds the program, and every word after the first that is a file which this process can read, or
 * that has one as its value ("--config=FILE"). */
static int add_words(struct plugin_identity *identity, const struct running_program *program,
		     const char *name, const char *file, const struct text_list *words,
		     struct digests *digests, struct error *err)
{
	char *script CLEANUP_FREE = NULL;
	const struct digest_job *job = NULL;

	for (size_t i = 1; i < words->count; i++) {
		const char *value = strchr(words->items[i], '=');
		char *path CLEANUP_FREE = running_program_path(program, words->items[i]);
		if (path == NULL && value != NULL && value[1] != '\0')
			path = running_program_path(program, value + 1);
		if (path == NULL)
			continue;
		if (script == NULL)
			script = memory_copy(path_base(path));
		if (identity->files.names.count == FILES_MAX)
			continue;
		int rc = digest_set_add(&identity->files, digests, path_base(path), path, err);
		if (rc < 0)
			return rc;
	}

	if (file != NULL && digests_add(digests, file, &job, NULL) == 0)
		identity->program = job;
	set_name(identity, name, script);
	return 0;
}

int plugin_identity_of_command(struct plugin_identity *identity, const char *command,
			       struct digests *digests, struct error *err)
{
	struct running_program self CLEANUP_RUNNING_PROGRAM = {0};
	struct text_list words CLEANUP_TEXT_LIST = {0};
	char *program CLEANUP_FREE = NULL;

	if (command == NULL) {
		identity->name = memory_copy("attached");
		identity->unknown = memory_copy("which process serves the plugin's socket");
		return 0;
	}
	if (command_line_split(COMMAND_LINE_HERE, command, &words, NULL) < 0 || words.count == 0)
		return 0;
	/* The child is started with this process' PATH and working directory. */
	(void)running_program_read(uv_os_getpid(), &self, NULL);
	(void)process_find_program(words.items[0], &program, NULL);
	return add_words(identity, &self, path_base(words.items[0]), program, &words, digests, err);
}

void plugin_identity_of_file(struct plugin_identity *identity, const char *program,
			     struct digests *digests)
{
	const struct digest_job *job = NULL;
	if (digests_add(digests, program, &job, NULL) == 0)
		identity->program = job;
	set_name(identity, path_base(program), NULL);
}

int plugin_identity_add(struct plugin_identity *identity, const char *resource, int pid,
			struct digests *digests, bool *news, struct error *err)
{
	struct running_program server CLEANUP_RUNNING_PROGRAM = {0};

	if (!identity->is_served && pid > 0 && running_program_read(pid, &server, NULL) == 0) {
		identity->is_served = true;
		*news = true;
		int rc = add_words(identity, &server, server.name, server.file, &server.words,
				   digests, err);
		if (rc < 0)
			return rc;
	}
	if (!text_list_has(&identity->resources, resource)) {
		*news = true;
		text_list_add(&identity->resources, resource);
		text_list_sort(&identity->resources);
	}
	return 0;
}

cJSON *plugin_identity_json(const struct plugin_identity *identity, const char *version)
{
	const struct digest_set *set = &identity->files;
	struct members plugin CLEANUP_MEMBERS = members_new();
	const char *program = identity->program != NULL ? digest_result(identity->program) : "";

	member_string(&plugin, "api", "v1beta1");
	if (identity->name != NULL)
		member_string(&plugin, "name", identity->name);
	if (version != NULL)
		member_string(&plugin, "version", version);
	if (program[0] != '\0')
		member_string(&plugin, "binaryDigest", program);
	if (identity->unknown != NULL)
		member_string(&plugin, "unknown", identity->unknown);

	/* Files with the same content are listed once; their digests are sorted. */
	if (set->names.count != 0) {
		struct members files = member_array(&plugin, "files");
		struct text_list digests CLEANUP_TEXT_LIST = {0};
		for (size_t i = 0; i < set->names.count; i++) {
			const char *digest = digest_result(set->jobs[i]);
			if (digest[0] == '\0' || text_list_has(&digests, digest))
				continue;
			struct members file = member_object(&files, NULL);
			member_string(&file, "name", set->names.items[i]);
			member_string(&file, "digest", digest);
			text_list_add(&digests, digest);
		}
		text_list_sort(&digests);
		member_strings(&plugin, "fileDigests", (const char *const *)digests.items);
	}

	if (identity->resources.count != 0)
		member_strings(&plugin, "resources",
			       (const char *const *)identity->resources.items);
	return members_take(&plugin);
}
