/* SPDX-License-Identifier: MIT */
#include "containers/registry/internal.h"

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "containers/cri/cri.h"
#include "rpc/loop.h"

#include <string.h>

/* containerd's store has two parts: names in a database that only containerd may open, which its CRI
 * reports, and content under its digest (plugins/content/local), which is read from the files. */
#define CONTENT "io.containerd.content.v1.content/blobs"

static int store_open_blob(void *blobs, const struct image_descriptor *what, bool is_document,
			   struct blob_reader **out, struct error *err)
{
	char *path CLEANUP_FREE = blob_path(blobs, what->digest);
	(void)is_document;
	int rc = blob_file_open(path, out, err);
	if (rc == ERROR_NOT_FOUND)
		return error_set(err, rc,
				 "%s is not in %s: pulled for another platform, or removed after "
				 "unpacking (discard_unpacked_layers); use the registry",
				 what->digest, (const char *)blobs);
	return rc;
}

static const struct source_kind store_kind = {.open = store_open_blob, .close = free};

/* Is it a manifest whose configuration has this digest? One is a kilobyte or two. */
static bool is_manifest_of(const char *path, const char *configuration)
{
	enum { MANIFEST_MAX = 65536 };
	char *data CLEANUP_FREE = NULL;
	cJSON *json CLEANUP_JSON = NULL;
	size_t size = 0;
	if (file_read_regular(path, false, MANIFEST_MAX, &data, &size, NULL) < 0 ||
	    data[0] != '{' || image_document_parse(data, size, &json, NULL) < 0)
		return false;
	return text_equal(json_pointer_string(json, "/config/digest"), configuration);
}

/* The digest of the manifest. An image that was imported has no name with one: its manifest is found by the configuration. */
static int use_status(const char *blobs, const Runtime__V1__Image *image, struct image_index *top,
		      struct error *err)
{
	enum { BLOBS_MAX = 100000 };
	char *directory CLEANUP_FREE = path_join(blobs, "sha256");
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (image == NULL)
		return error_set(err, ERROR_NOT_FOUND,
				 "containerd has no such image for Kubernetes (namespace k8s.io)");
	for (size_t i = 0; i < image->n_repo_digests; i++) {
		const char *at = strrchr(image->repo_digests[i], '@');
		if (at != NULL && digest_is_valid(at + 1)) {
			source_add_digest(at + 1, top);
			return 0;
		}
	}

	int rc = file_list(directory, &names, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < names.count && i < BLOBS_MAX; i++) {
		char *path CLEANUP_FREE = path_join(directory, names.items[i]);
		char *digest CLEANUP_FREE = text_format("sha256:%s", names.items[i]);
		if (is_manifest_of(path, image->id)) {
			source_add_digest(digest, top);
			return 0;
		}
	}
	return error_set(err, ERROR_NOT_FOUND, "no manifest of the image %s is in %s", image->id,
			 blobs);
}

int source_containerd_open(const struct source_name *name,
			   const struct image_source_options *options, struct source *out,
			   struct error *err)
{
	const char *root =
		options->containerd_root != NULL ? options->containerd_root : "/var/lib/containerd";
	const char *address = options->containerd_address != NULL
				      ? options->containerd_address
				      : "unix:///run/containerd/containerd.sock";
	uv_loop_t loop;
	struct cri *cri = NULL;
	Runtime__V1__ImageStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	*out = (struct source){.kind = &store_kind, .self = path_join(root, CONTENT)};
	if (digest_is_valid(name->whole)) {
		source_add_digest(name->whole, &out->top);
		return 0;
	}

	int rc = loop_open(&loop, err);
	if (rc < 0)
		return rc;
	rc = cri_open(&loop, address, &cri, err);
	if (rc == 0)
		rc = cri_image_status_wait(cri, name->whole, false, &reply, err);
	cri_close(cri);
	(void)loop_drain(&loop, 1000, NULL);
	if (rc < 0)
		return error_wrap(err, rc, "%s", address);
	return use_status(out->self, reply->image, &out->top, err);
}
