/* SPDX-License-Identifier: MIT */
#include "containers/registry/credentials.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/process.h"
#include "base/program.h"
#include "rpc/socket.h"

#include <sodium.h>
#include <string.h>

enum { FILE_MAX = 1024 * 1024, SECRET_MAX = 64 * 1024, HELPER_TIMEOUT_MS = 30000 };

#define DOCKER_HUB_KEY "https://index.docker.io/v1/"

/* The arena's own memory: it may be written to. */
static void wipe(const char *secret)
{
	if (secret != NULL)
		sodium_memzero((char *)(uintptr_t)secret, strlen(secret));
}

void credentials_free(struct credentials *credentials)
{
	wipe(credentials->username);
	wipe(credentials->password);
	wipe(credentials->identity_token);
	arena_free(&credentials->arena);
	*credentials = (struct credentials){0};
}

static bool has_any(const struct credentials *credentials)
{
	return credentials->password != NULL || credentials->identity_token != NULL;
}

/* A member that is a string and not empty; NULL: no such member. */
static const char *member(const cJSON *object, const char *key)
{
	const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
	return value != NULL && value[0] != '\0' ? value : NULL;
}

static const char *keep(struct credentials *out, const char *value)
{
	return value != NULL ? arena_string(&out->arena, value) : NULL;
}

/* The length of the part of "HOST/NAME" that a key matches; 0: none. Docker writes hosts, some with a scheme and the
 * path of the first version; Podman also writes repositories and folders of them. */
static size_t key_matches(const char *key, const char *host, const char *name)
{
	char whole[512] = "";
	(void)snprintf(whole, sizeof(whole), "%s/%s", host, name);
	if (text_equal(key, DOCKER_HUB_KEY))
		key = "docker.io";
	if (text_starts_with(key, "https://"))
		key += strlen("https://");
	else if (text_starts_with(key, "http://"))
		key += strlen("http://");

	size_t length = strlen(key);
	if (text_ends_with(key, "/v1/") || text_ends_with(key, "/v2/"))
		length -= strlen("/v1/");
	else if (length > 0 && key[length - 1] == '/')
		length--;
	bool matches =
		strncmp(whole, key, length) == 0 && (whole[length] == '/' || whole[length] == '\0');
	return matches ? length : 0;
}

/* The member whose key matches best. */
static const cJSON *best_match(const cJSON *map, const char *host, const char *name)
{
	const cJSON *best = NULL;
	size_t longest = 0;
	if (!cJSON_IsObject(map))
		return NULL;
	json_each (item, map) {
		size_t length = key_matches(item->string, host, name);
		if (length > longest) {
			best = item;
			longest = length;
		}
	}
	return best;
}

int credentials_read(const cJSON *file, const char *host, const char *name, struct credentials *out,
		     const char **helper, struct error *err)
{
	const cJSON *helpers = cJSON_GetObjectItemCaseSensitive(file, "credHelpers");
	const cJSON *auths = cJSON_GetObjectItemCaseSensitive(file, "auths");
	const char *named = cJSON_GetStringValue(best_match(helpers, host, ""));
	const cJSON *entry = best_match(auths, host, name);
	const char *auth = member(entry, "auth");
	*helper = named != NULL ? named : member(file, "credsStore");
	if (*helper != NULL)
		return 0;
	*helper = "";
	out->identity_token = keep(out, member(entry, "identitytoken"));
	if (auth == NULL) {
		out->username = keep(out, member(entry, "username"));
		out->password = keep(out, member(entry, "password"));
		return 0;
	}

	/* "auth": base64 of "USER:PASSWORD". */
	size_t room = strlen(auth);
	size_t size = 0;
	if (room > SECRET_MAX)
		return error_set(err, ERROR_LIMIT, "\"auth\" is longer than %d bytes", SECRET_MAX);
	char *plain = memory_allocate(1, room + 1);
	char *colon = NULL;
	if (sodium_base642bin((unsigned char *)plain, room, auth, room, "\r\n ", &size, NULL,
			      sodium_base64_VARIANT_ORIGINAL) == 0 &&
	    memchr(plain, '\0', size) == NULL)
		colon = strchr(plain, ':');
	if (colon != NULL) {
		*colon = '\0';
		out->username = keep(out, plain);
		out->password = keep(out, colon + 1);
	}
	sodium_memzero(plain, room);
	free(plain);
	return colon != NULL
		       ? 0
		       : error_set(err, ERROR_FORMAT, "\"auth\" is not base64 of USER:PASSWORD");
}

int credentials_read_helper(const char *data, size_t size, struct credentials *out,
			    struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	if (size > SECRET_MAX || json_parse(data, size, &json, NULL) < 0 ||
	    member(json, "Username") == NULL || member(json, "Secret") == NULL)
		return error_set(err, ERROR_FORMAT, "prints no JSON with Username and Secret");
	if (text_equal(member(json, "Username"), "<token>"))
		out->identity_token = keep(out, member(json, "Secret"));
	else
		out->password = keep(out, member(json, "Secret"));
	if (out->password != NULL)
		out->username = keep(out, member(json, "Username"));
	return 0;
}

static int ask_helper(const char *program, const char *key, struct credentials *out,
		      struct error *err)
{
	const char *argv[] = {program, "get", NULL};
	const struct process_spec spec = {
		.argv = argv,
		.input = key,
		.input_size = strlen(key),
		.capture_max = SECRET_MAX,
		.timeout_ms = HELPER_TIMEOUT_MS,
	};
	struct process_result result = {0};
	socket_ignore_sigpipe();
	int rc = process_run(&spec, &result, err);
	if (rc == 0 && result.end == PROCESS_TIMED_OUT)
		rc = error_set(err, ERROR_TIMEOUT, "no answer within %d s",
			       HELPER_TIMEOUT_MS / 1000);
	else if (rc == 0 && result.end == PROCESS_EXITED && result.code == 0)
		rc = credentials_read_helper(text_string(&result.out), result.out.size, out, err);
	else if (rc == 0) {
		/* A helper without credentials says so in words, on standard output. */
		char end[128] = "";
		process_describe(&result, end, sizeof(end));
		if (result.end != PROCESS_EXITED ||
		    strstr(text_string(&result.out), "credentials not found") == NULL)
			rc = error_set(err, ERROR_IO, "%s", end);
	}
	if (result.out.data != NULL)
		sodium_memzero(result.out.data, result.out.size);
	process_result_free(&result);
	return rc < 0 ? error_wrap(err, rc, "%s (credential helper)", program) : 0;
}

/* The credentials of one file. */
static int find_in_file(const char *path, const char *host, const char *name,
			struct credentials *out, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	cJSON *json CLEANUP_JSON = NULL;
	const char *helper = "";
	size_t size = 0;
	int rc = file_read(path, FILE_MAX, &data, &size, err);
	if (rc == ERROR_NOT_FOUND)
		return 0;
	if (rc < 0)
		return rc;

	rc = json_parse(data, size, &json, err);
	sodium_memzero(data, size);
	if (rc == 0)
		rc = credentials_read(json, host, name, out, &helper, err);
	char *program CLEANUP_FREE = text_format("docker-credential-%s", helper);
	if (rc == 0 && helper[0] != '\0') {
		const bool is_docker = text_equal(host, "docker.io");
		if (!path_is_bare_name(program))
			rc = error_set(err, ERROR_FORMAT,
				       "\"%s\" is not the name of a credential helper", helper);
		else
			rc = ask_helper(program, is_docker ? DOCKER_HUB_KEY : host, out, err);
	}
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	if (has_any(out))
		out->source = keep(out, helper[0] != '\0' ? program : path);
	return 0;
}

int credentials_find(const char *host, const char *name, struct credentials *out, struct error *err)
{
	const bool has_docker = program_variable("DOCKER_CONFIG") != NULL;
	const bool has_home = program_variable("HOME") != NULL;
	const struct {
		const char *variable, *below;
		bool skipped;
	} places[] = {
		{"DOCKER_CONFIG", "config.json", false},
		{"REGISTRY_AUTH_FILE", NULL, false},
		{"HOME", ".docker/config.json", has_docker},
		{"USERPROFILE", ".docker/config.json", has_docker || has_home},
	};
	int rc = 0;
	*out = (struct credentials){0};
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(places) && !has_any(out); i++) {
		const char *value = program_variable(places[i].variable);
		if (value == NULL || places[i].skipped)
			continue;
		char *path CLEANUP_FREE = places[i].below != NULL
						  ? path_join(value, places[i].below)
						  : memory_copy(value);
		rc = find_in_file(path, host, name, out, err);
	}
	if (rc < 0)
		credentials_free(out);
	return rc;
}
