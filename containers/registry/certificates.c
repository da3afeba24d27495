/* SPDX-License-Identifier: MIT */
#include "containers/registry/certificates.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/program.h"

#include <string.h>

enum { PEM_MAX = 4 * 1024 * 1024 };

static int add_file(const char *path, struct text *out, struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	int rc = file_read(path, PEM_MAX, &data, &size, err);
	if (rc < 0)
		return rc;
	if (strstr(data, "-----BEGIN") == NULL)
		return error_set(err, ERROR_FORMAT, "%s: not a certificate as PEM", path);
	text_append(out, data, size);
	text_add(out, "\n");
	return 0;
}

/* Docker's folders for a registry. What cannot be read is not trusted. */
static void add_folder(const char *parent, const char *host, struct text *out)
{
	char *folder CLEANUP_FREE = path_join(parent, host);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (folder == NULL || file_list(folder, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(folder, names.items[i]);
		if (path != NULL && text_ends_with(path, ".crt"))
			(void)add_file(path, out, NULL);
	}
}

int certificates_for(const char *url, const char *ca_certificate, struct text *out,
		     struct error *err)
{
	const char *home = program_variable("HOME");
	if (!text_starts_with(url, "https://"))
		return 0;
	url += strlen("https://");
	char *host CLEANUP_FREE = strndup(url, strcspn(url, "/?#"));
	char *own CLEANUP_FREE =
		home != NULL ? path_join(home, ".config/containers/certs.d") : NULL;
	if (host == NULL)
		return error_memory(err);
	int rc = ca_certificate != NULL ? add_file(ca_certificate, out, err) : 0;
	if (rc < 0)
		return rc;
	if (path_is_bare_name(host)) {
		add_folder("/etc/docker/certs.d", host, out);
		add_folder("/etc/containers/certs.d", host, out);
		if (own != NULL)
			add_folder(own, host, out);
	}
	return out->failed ? error_memory(err) : 0;
}
