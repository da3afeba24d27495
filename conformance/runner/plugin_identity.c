/* SPDX-License-Identifier: MIT */
#include "conformance/runner/plugin_identity.h"

#include "base/members.h"
#include "base/path.h"
#include "base/process.h"
#include "base/running_program.h"
#include "conformance/subject/plugin_process.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { FILES_MAX = 64 };

/* Programs that are not the plugin but run it; digits and dots at the end do not count. */
static const char *const interpreters[] = {
	"bash",	 "bun",	 "busybox", "dash",   "deno", "dotnet", "env",	  "guile", "java",
	"julia", "ksh",	 "lua",	    "luajit", "mono", "node",	"nodejs", "perl",  "php",
	"pwsh",	 "pypy", "python",  "ruby",   "sh",   "tclsh",	"wine",	  "zsh",   NULL,
};

void plugin_identity_free(struct plugin_identity *identity)
{
	free(identity->name);
	free(identity->untold);
	digest_set_free(&identity->files);
	text_list_free(&identity->resources);
	*identity = (struct plugin_identity){0};
}

static bool is_interpreter(const char *name)
{
	size_t size = strlen(name);
	while (size > 0 && strchr("0123456789.", name[size - 1]) != NULL)
		size--;
	char *plain CLEANUP_FREE = strndup(name, size);
	return plain != NULL && interpreters[text_position(interpreters, plain)] != NULL;
}

/* The name of the plugin, and what is not known of it. */
static int set_name(struct plugin_identity *identity, const char *program, const char *script,
		    struct error *err)
{
	bool runs_another = is_interpreter(program);
	free(identity->name);
	free(identity->untold);
	identity->untold = NULL;
	identity->name = runs_another && script != NULL ? text_format("%s (%s)", script, program)
							: strdup(program);
	if (runs_another && script == NULL) {
		identity->untold =
			text_format("what %s runs: none of its words is a file", program);
		if (identity->untold == NULL)
			return error_memory(err);
	}
	return identity->name != NULL ? 0 : error_memory(err);
}

/* The word's file, or that of its value ("--config=FILE"), where this process can read it. */
static char *word_file(const struct running_program *program, const char *word)
{
	char *path = running_program_path(program, word);
	const char *value = strchr(word, '=');
	return path == NULL && value != NULL && value[1] != '\0'
		       ? running_program_path(program, value + 1)
		       : path;
}

static int add_word_file(struct plugin_identity *identity, const char *path,
			 struct digests *digests, struct error *err)
{
	return identity->files.names.count < FILES_MAX
		       ? digest_set_add(&identity->files, digests, path_base(path), path, err)
		       : 0;
}

/* The program, and each file among its words but the first. */
static int take_words(struct plugin_identity *identity, const struct running_program *program,
		      const char *name, const char *file, const struct text_list *words,
		      struct digests *digests, struct error *err)
{
	char *script CLEANUP_FREE = NULL;
	const struct digest_job *job = NULL;
	int rc = 0;
	for (size_t i = 1; rc == 0 && i < words->count; i++) {
		char *path CLEANUP_FREE = word_file(program, words->items[i]);
		if (path == NULL)
			continue;
		rc = add_word_file(identity, path, digests, err);
		if (script == NULL)
			script = strdup(path_base(path));
	}
	if (file != NULL && digests_add(digests, file, &job, NULL) == 0)
		identity->program = job;
	return rc == 0 ? set_name(identity, name, script, err) : rc;
}

int plugin_identity_of_command(struct plugin_identity *identity, const char *command,
			       struct digests *digests, struct error *err)
{
	struct running_program self CLEANUP_RUNNING_PROGRAM = {0};
	struct text_list words CLEANUP_TEXT_LIST = {0};
	char *program CLEANUP_FREE = NULL;
	if (command == NULL) {
		identity->name = strdup("attached");
		identity->untold = strdup("which process serves the plugin's socket");
		return identity->name != NULL && identity->untold != NULL ? 0 : error_memory(err);
	}
	if (command_line_split(COMMAND_LINE_HERE, command, &words, NULL) < 0 || words.count == 0)
		return 0;
	/* The child is started with this process' PATH and working directory. */
	(void)running_program_read(uv_os_getpid(), &self, NULL);
	(void)process_find_program(words.items[0], &program, NULL);
	return take_words(identity, &self, path_base(words.items[0]), program, &words, digests,
			  err);
}

int plugin_identity_of_file(struct plugin_identity *identity, const char *program,
			    struct digests *digests, struct error *err)
{
	const struct digest_job *job = NULL;
	if (digests_add(digests, program, &job, NULL) == 0)
		identity->program = job;
	return set_name(identity, path_base(program), NULL, err);
}

static int identify_process(struct plugin_identity *identity, int pid, struct digests *digests,
			    bool *news, struct error *err)
{
	struct running_program server CLEANUP_RUNNING_PROGRAM = {0};
	if (identity->is_served || pid <= 0 || running_program_read(pid, &server, NULL) < 0)
		return 0;
	identity->is_served = true;
	*news = true;
	return take_words(identity, &server, server.name, server.file, &server.words, digests, err);
}

int plugin_identity_add(struct plugin_identity *identity, const char *resource, int pid,
			struct digests *digests, bool *news, struct error *err)
{
	int rc = identify_process(identity, pid, digests, news, err);
	if (rc < 0 || text_list_has(&identity->resources, resource))
		return rc;
	*news = true;
	rc = text_list_add(&identity->resources, resource, err);
	text_list_sort(&identity->resources);
	return rc;
}

/* The files by content, each once, and their digests in order. */
static void add_files(struct members *plugin, const struct digest_set *set)
{
	struct members files CLEANUP_MEMBERS = members_new_array();
	struct text_list digests CLEANUP_TEXT_LIST = {0};
	for (size_t i = 0; !files.failed && i < set->names.count; i++) {
		const char *digest = digest_result(set->jobs[i]);
		struct members file CLEANUP_MEMBERS = members_new();
		if (digest[0] == '\0' || text_list_has(&digests, digest))
			continue;
		member_string(&file, "name", set->names.items[i]);
		member_string(&file, "digest", digest);
		member_item(&files, NULL, members_take(&file));
		files.failed = files.failed || text_list_add(&digests, digest, NULL) < 0;
	}
	text_list_sort(&digests);
	member_item(plugin, "files", members_take(&files));
	member_strings(plugin, "fileDigests", (const char *const *)digests.items);
}

cJSON *plugin_identity_json(const struct plugin_identity *identity, const char *version)
{
	struct members plugin CLEANUP_MEMBERS = members_new();
	const char *digest = identity->program != NULL ? digest_result(identity->program) : "";
	member_string(&plugin, "api", "v1beta1");
	if (identity->name != NULL)
		member_string(&plugin, "name", identity->name);
	if (version != NULL)
		member_string(&plugin, "version", version);
	if (digest[0] != '\0')
		member_string(&plugin, "binaryDigest", digest);
	if (identity->untold != NULL)
		member_string(&plugin, "untold", identity->untold);
	if (identity->files.names.count != 0)
		add_files(&plugin, &identity->files);
	if (identity->resources.count != 0)
		member_strings(&plugin, "resources",
			       (const char *const *)identity->resources.items);
	return members_take(&plugin);
}
