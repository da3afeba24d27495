/* SPDX-License-Identifier: MIT */
#include "containers/runtime/identity.h"

#include "base/json.h"
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
		return strdup(name);
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

/* What the program says of its version. */
static char *ask_version(const char *file, const char *name, const char *option)
{
	const char *const argv[] = {file, option, NULL};
	const struct process_spec spec = {.argv = argv, .timeout_ms = VERSION_TIMEOUT_MS};
	struct process_result result = {0};
	if (process_run(&spec, &result, NULL) < 0)
		return strdup(name);
	char *version = runtime_program_version(name, text_string(&result.out));
	process_result_free(&result);
	return version;
}

/* containerd's configuration of its CRI service, as its Status tells it. */
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
	return root[0] != '\0' ? strdup(root) : NULL;
}

static const cJSON *find_handler(const cJSON *config, const char *handler)
{
	if (handler == NULL || handler[0] == '\0')
		handler = string_of(config, "/containerd/defaultRuntimeName");
	return cJSON_GetObjectItemCaseSensitive(json_pointer(config, "/containerd/runtimes"),
						handler);
}

static void find_shim(const cJSON *handler, const struct running_program *daemon,
		      struct runtime_identity *out)
{
	const char *path = string_of(handler, "/runtimePath");
	char *name CLEANUP_FREE = path[0] != '\0'
					  ? strdup(path)
					  : runtime_shim_name(string_of(handler, "/runtimeType"));
	if (name == NULL)
		return;
	out->shim_file = running_program_find(daemon, name);
	out->shim = out->shim_file != NULL ? ask_version(out->shim_file, path_base(name), "-v")
					   : strdup(path_base(name));
}

/* The shims of runc, and those made in its image, start the program that their options name. */
static void find_oci(const cJSON *handler, const struct running_program *daemon,
		     struct runtime_identity *out)
{
	const char *type = string_of(handler, "/runtimeType");
	const char *name = string_of(handler, "/options/BinaryName");
	if (name[0] == '\0' && text_starts_with(type, "io.containerd.runc."))
		name = "runc";
	if (name[0] == '\0')
		return;
	out->oci_file = running_program_find(daemon, name);
	out->oci = out->oci_file != NULL ? ask_version(out->oci_file, path_base(name), "--version")
					 : strdup(path_base(name));
}

int runtime_identify(struct runtime *runtime, const char *handler, struct runtime_identity *out,
		     struct error *err)
{
	struct running_program daemon CLEANUP_RUNNING_PROGRAM = {0};
	cJSON *config CLEANUP_JSON = read_config(runtime);
	const cJSON *found = find_handler(config, handler);
	int peer = cri_peer(runtime->cri);
	struct error reason = {.text = "the system does not tell which process serves the runtime"};
	bool known = peer > 0 && running_program_read(peer, &daemon, &reason) == 0;
	*out = (struct runtime_identity){0};
	if (known)
		out->file = strdup(daemon.file);
	else
		out->unknown = strdup(reason.text);
	if (found != NULL) {
		find_shim(found, &daemon, out);
		find_oci(found, &daemon, out);
	}
	if (out->unknown == NULL && out->oci_file == NULL)
		out->unknown =
			strdup(found == NULL ? "the runtime does not tell which low-level "
					       "runtime it starts"
					     : "the low-level runtime's program was not found");
	return out->file == NULL && out->unknown == NULL ? error_memory(err) : 0;
}

int runtime_cdi_directories(struct runtime *runtime, struct text_list *out, struct error *err)
{
	cJSON *config CLEANUP_JSON = runtime != NULL ? read_config(runtime) : NULL;
	int rc = 0;
	json_each (directory, cJSON_GetObjectItem(config, "cdiSpecDirs")) {
		if (rc == 0 && cJSON_IsString(directory))
			rc = text_list_add(out, directory->valuestring, err);
	}
	if (rc < 0 || out->count != 0)
		return rc;
	rc = text_list_add(out, CDI_STATIC_DIRECTORY, err);
	return rc == 0 ? text_list_add(out, CDI_DYNAMIC_DIRECTORY, err) : rc;
}
