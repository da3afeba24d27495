/* SPDX-License-Identifier: MIT */
#include "conformance/runner/plugin_identity.h"

#include "base/file.h"
#include "base/path.h"
#include "base/running_program.h"
#include "conformance/subject/plugin_process.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static bool identity_is_interpreter(const char *name)
{
	size_t size = strlen(name);

	while (size > 0 && strchr("0123456789.", name[size - 1]) != NULL)
		size--;
	for (const char *const *known = interpreters; *known != NULL; known++) {
		if (strlen(*known) == size && strncmp(*known, name, size) == 0)
			return true;
	}
	return false;
}

/* The name of the plugin, and what is not known of it. */
static int identity_set_name(struct plugin_identity *identity, const char *program,
			     const char *script, struct error *err)
{
	bool runs_another = identity_is_interpreter(program);

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
static char *identity_word_file(const struct running_program *program, const char *word)
{
	char *path = running_program_path(program, word);
	const char *value = strchr(word, '=');

	return path == NULL && value != NULL && value[1] != '\0'
		       ? running_program_path(program, value + 1)
		       : path;
}

static int identity_add_file(struct plugin_identity *identity, const char *path,
			     struct digests *digests, struct error *err)
{
	return identity->files.names.count < FILES_MAX
		       ? digest_set_add(&identity->files, digests, path_base(path), path, err)
		       : 0;
}

/* The program, and each file among its words but the first. */
static int identity_take(struct plugin_identity *identity, const struct running_program *program,
			 const char *name, const char *file, const struct text_list *words,
			 struct digests *digests, struct error *err)
{
	char *script CLEANUP_FREE = NULL;
	const struct digest_job *job = NULL;
	int rc = 0;

	for (size_t i = 1; rc == 0 && i < words->count; i++) {
		char *path CLEANUP_FREE = identity_word_file(program, words->items[i]);

		if (path == NULL)
			continue;
		rc = identity_add_file(identity, path, digests, err);
		if (script == NULL)
			script = strdup(path_base(path));
	}
	if (file != NULL && digests_add(digests, file, &job, NULL) == 0)
		identity->program = job;
	return rc == 0 ? identity_set_name(identity, name, script, err) : rc;
}

#ifdef _WIN32
/* Along PATH as the system starts it; the words of a command line are not looked up. */
static char *identity_find_program(const char *name)
{
	struct text_list directories CLEANUP_TEXT_LIST = {0};
	const char *path = getenv("PATH");

	if (strcmp(path_base(name), name) != 0)
		return strdup(name);
	if (path == NULL || text_list_split(&directories, path, ';', NULL) < 0)
		return NULL;
	for (size_t i = 0; i < directories.count; i++) {
		char *candidate CLEANUP_FREE = path_join(directories.items[i], name);

		if (candidate != NULL && file_exists(candidate))
			return STEAL(candidate);
	}
	return NULL;
}

static int identity_of_words(struct plugin_identity *identity, const struct text_list *words,
			     struct digests *digests, struct error *err)
{
	const struct running_program none = {0};
	char *program CLEANUP_FREE = identity_find_program(words->items[0]);

	return identity_take(identity, &none, path_base(words->items[0]), program, words, digests,
			     err);
}
#else
static int identity_of_words(struct plugin_identity *identity, const struct text_list *words,
			     struct digests *digests, struct error *err)
{
	struct running_program self CLEANUP_RUNNING_PROGRAM = {0};
	char *program CLEANUP_FREE = NULL;

	/* The child is started with this process' PATH and working directory. */
	if (running_program_read(getpid(), &self, NULL) == 0)
		program = running_program_find(&self, words->items[0]);
	return identity_take(identity, &self, path_base(words->items[0]), program, words, digests,
			     err);
}
#endif

int plugin_identity_of_command(struct plugin_identity *identity, const char *command,
			       struct digests *digests, struct error *err)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};

	if (command == NULL) {
		identity->name = strdup("attached");
		identity->untold = strdup("which process serves the plugin's socket");
		return identity->name != NULL && identity->untold != NULL ? 0 : error_memory(err);
	}
	if (command_line_split(COMMAND_LINE_HERE, command, &words, NULL) < 0 || words.count == 0)
		return 0;
	return identity_of_words(identity, &words, digests, err);
}

int plugin_identity_of_file(struct plugin_identity *identity, const char *program,
			    struct digests *digests, struct error *err)
{
	const struct digest_job *job = NULL;

	if (digests_add(digests, program, &job, NULL) == 0)
		identity->program = job;
	return identity_set_name(identity, path_base(program), NULL, err);
}

static int identity_of_process(struct plugin_identity *identity, int pid, struct digests *digests,
			       bool *news, struct error *err)
{
	struct running_program server CLEANUP_RUNNING_PROGRAM = {0};

	if (identity->is_served || pid <= 0 || running_program_read(pid, &server, NULL) < 0)
		return 0;
	identity->is_served = true;
	*news = true;
	return identity_take(identity, &server, server.name, server.file, &server.words, digests,
			     err);
}

int plugin_identity_add(struct plugin_identity *identity, const char *resource, int pid,
			struct digests *digests, bool *news, struct error *err)
{
	int rc = identity_of_process(identity, pid, digests, news, err);

	if (rc < 0 || text_list_has(&identity->resources, resource))
		return rc;
	*news = true;
	rc = text_list_add(&identity->resources, resource, err);
	text_list_sort(&identity->resources);
	return rc;
}

static bool identity_add_string(cJSON *object, const char *key, const char *value)
{
	cJSON *string = json_new_string(value, strlen(value));

	return string != NULL && cJSON_AddItemToObject(object, key, string);
}

/* The files by content, each once, and their digests in order. */
static bool identity_add_files(cJSON *plugin, const struct digest_set *set)
{
	cJSON *files = cJSON_AddArrayToObject(plugin, "files");
	cJSON *sorted = cJSON_AddArrayToObject(plugin, "fileDigests");
	struct text_list digests CLEANUP_TEXT_LIST = {0};
	bool added = files != NULL && sorted != NULL;

	for (size_t i = 0; added && i < set->names.count; i++) {
		const char *digest = digest_result(set->jobs[i]);
		cJSON *file = NULL;

		if (digest[0] == '\0' || text_list_has(&digests, digest))
			continue;
		added = text_list_add(&digests, digest, NULL) == 0;
		file = cJSON_CreateObject();
		added = added && cJSON_AddItemToArray(files, file) &&
			identity_add_string(file, "name", set->names.items[i]) &&
			identity_add_string(file, "digest", digest);
	}
	text_list_sort(&digests);
	for (size_t i = 0; added && i < digests.count; i++)
		added = cJSON_AddItemToArray(sorted, cJSON_CreateString(digests.items[i]));
	return added;
}

static bool identity_add_resources(cJSON *plugin, const struct text_list *resources)
{
	cJSON *array = cJSON_AddArrayToObject(plugin, "resources");
	bool added = array != NULL;

	for (size_t i = 0; added && i < resources->count; i++)
		added = cJSON_AddItemToArray(
			array, json_new_string(resources->items[i], strlen(resources->items[i])));
	return added;
}

cJSON *plugin_identity_json(const struct plugin_identity *identity)
{
	cJSON *plugin CLEANUP_JSON = cJSON_CreateObject();
	const char *digest = identity->program != NULL ? digest_result(identity->program) : "";
	bool added = plugin != NULL && identity_add_string(plugin, "api", "v1beta1");

	if (added && identity->name != NULL)
		added = identity_add_string(plugin, "name", identity->name);
	if (added && digest[0] != '\0')
		added = identity_add_string(plugin, "binaryDigest", digest);
	if (added && identity->untold != NULL)
		added = identity_add_string(plugin, "untold", identity->untold);
	if (added && identity->files.names.count != 0)
		added = identity_add_files(plugin, &identity->files);
	if (added && identity->resources.count != 0)
		added = identity_add_resources(plugin, &identity->resources);
	return added ? STEAL(plugin) : NULL;
}
