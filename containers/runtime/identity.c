/* SPDX-License-Identifier: MIT */
#include "containers/runtime/identity.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/running_program.h"
#include "containers/runtime/runtime_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_TIMEOUT_MS = 60000, VERSION_MAX = 64 };

void runtime_identity_free(struct runtime_identity *identity)
{
	free(identity->file);
	free(identity->shim);
	free(identity->shim_file);
	free(identity->oci);
	free(identity->oci_file);
	free(identity->unknown);
	*identity = (struct runtime_identity){0};
}

char *runtime_program_version(const char *name, const char *output)
{
	static const char word[] = "version";
	size_t matched = 0;
	for (; *output != '\0' && matched < sizeof(word) - 1; output++) {
		bool same = tolower((unsigned char)*output) == word[matched];
		matched = same ? matched + 1 : (size_t)(tolower((unsigned char)*output) == 'v');
	}
	output += strspn(output, ": \tv");
	if (!isdigit((unsigned char)*output))
		return memory_copy(name);
	size_t size = strcspn(output, " ,\t\r\n");
	return text_format("%s %.*s", name, (int)(size < VERSION_MAX ? size : VERSION_MAX), output);
}

char *runtime_shim_name(const char *type)
{
	const char *version = strrchr(type, '.');
	const char *name = version;
	if (!text_starts_with(type, "io.containerd.") || version == NULL)
		return NULL;
	while (name > type && name[-1] != '.')
		name--;
	return text_format("containerd-shim-%.*s-%s", (int)(version - name), name, version + 1);
}

/* containerd's configuration of its CRI service, from its Status. */
static cJSON *read_config(struct runtime *runtime)
{
	Runtime__V1__StatusResponse *status CLEANUP_CRI_REPLY = NULL;
	cJSON *config = NULL;
	if (cri_status_wait(runtime->cri, true, &status, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < status->n_info; i++) {
		const char *value = status->info[i]->value;
		if (config == NULL && strcmp(status->info[i]->key, "config") == 0)
			(void)json_parse(value, strlen(value), &config, NULL);
	}
	return config;
}

static const char *string_of(const cJSON *config, const char *pointer)
{
	const char *value = json_pointer_string(config, pointer);
	return value != NULL ? value : "";
}

char *runtime_root(struct runtime *runtime)
{
	cJSON *config CLEANUP_JSON = read_config(runtime);
	const char *root = string_of(config, "/containerdRootDir");
	return root[0] != '\0' ? memory_copy(root) : NULL;
}

/* Finds a program, and names it with its version if it was found. */
static void identify_program(const struct running_program *daemon, const char *name,
			     const char *version_option, char **file, char **version)
{
	*file = running_program_find(daemon, name);
	const char *const argv[] = {*file, version_option, NULL};
	const struct process_spec spec = {.argv = argv, .timeout_ms = VERSION_TIMEOUT_MS};
	struct process_result result = {0};
	if (*file == NULL || process_run(&spec, &result, NULL) < 0) {
		*version = memory_copy(path_base(name));
		return;
	}
	*version = runtime_program_version(path_base(name), text_string(&result.out));
	process_result_free(&result);
}

void runtime_identify(struct runtime *runtime, const char *handler, struct runtime_identity *out)
{
	struct running_program daemon CLEANUP_RUNNING_PROGRAM = {0};
	cJSON *config CLEANUP_JSON = read_config(runtime);
	struct error reason = {
		.text = "the system does not report which process serves the runtime"};
	int peer = cri_peer(runtime->cri);
	*out = (struct runtime_identity){0};
	if (peer > 0 && running_program_read(peer, &daemon, &reason) == 0)
		out->file = memory_copy(daemon.file);
	else
		out->unknown = memory_copy(reason.text);

	if (handler == NULL || handler[0] == '\0')
		handler = string_of(config, "/containerd/defaultRuntimeName");
	const cJSON *found = cJSON_GetObjectItemCaseSensitive(
		json_pointer(config, "/containerd/runtimes"), handler);
	const char *type = string_of(found, "/runtimeType");
	const char *path = string_of(found, "/runtimePath");
	char *shim CLEANUP_FREE = path[0] != '\0' ? memory_copy(path) : runtime_shim_name(type);
	if (shim != NULL)
		identify_program(&daemon, shim, "-v", &out->shim_file, &out->shim);

	/* The shims of runc, and those made in its image, start the program that their options name. */
	const char *oci = string_of(found, "/options/BinaryName");
	if (oci[0] == '\0' && text_starts_with(type, "io.containerd.runc."))
		oci = "runc";
	if (oci[0] != '\0')
		identify_program(&daemon, oci, "--version", &out->oci_file, &out->oci);

	if (out->unknown != NULL || out->oci_file != NULL)
		return;
	out->unknown = memory_copy(
		found == NULL ? "the runtime does not report which low-level runtime it starts"
			      : "the low-level runtime's program was not found");
}

void runtime_cdi_directories(struct runtime *runtime, struct text_list *out)
{
	cJSON *config CLEANUP_JSON = runtime != NULL ? read_config(runtime) : NULL;
	json_each (directory, cJSON_GetObjectItem(config, "cdiSpecDirs")) {
		if (cJSON_IsString(directory))
			text_list_add(out, directory->valuestring);
	}
	if (out->count != 0)
		return;
	text_list_add(out, CDI_STATIC_DIRECTORY);
	text_list_add(out, CDI_DYNAMIC_DIRECTORY);
}
