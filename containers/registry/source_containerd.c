/* SPDX-License-Identifier: MIT */
#include "containers/registry/internal.h"

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "containers/cri/cri.h"
#include "rpc/loop.h"

#include <string.h>

/* containerd's store is two things: names in a database that containerd alone may open, which its CRI
 * tells, and content under its digest (plugins/content/local), which is read from the files. */
#define CONTENT "io.containerd.content.v1.content/blobs"

struct containerd_store {
	char *blobs;
	char *digest; /* of the index or manifest */
};

static void store_close(void *self)
{
	struct containerd_store *store = self;
	free(store->blobs);
	free(store->digest);
	free(store);
}

static void store_cleanup(struct containerd_store **store)
{
	if (*store != NULL)
		store_close(*store);
}

static int store_index(void *self, struct image_index *out, struct error *err)
{
	const struct containerd_store *store = self;
	return source_add_digest(store->digest, out, err);
}

static int store_open_blob(void *self, const struct image_descriptor *what, bool is_document,
			   struct blob_reader **out, struct error *err)
{
	const struct containerd_store *store = self;
	(void)is_document;
	int rc = blob_file_open(store->blobs, what->digest, out, err);
	if (rc == ERROR_NOT_FOUND)
		return error_set(err, rc,
				 "%s is not in %s: pulled for another platform, or removed after "
				 "unpacking (discard_unpacked_layers); use the registry",
				 what->digest, store->blobs);
	return rc;
}

static const struct source_kind store_kind = {store_index, store_open_blob, store_close};

/* Is it a manifest whose configuration has this digest? One is a kilobyte or two. */
static bool is_manifest_of(const char *path, const char *configuration)
{
	enum { MANIFEST_MAX = 65536 };
	char data[MANIFEST_MAX];
	int fd CLEANUP_FD = -1;
	cJSON *json CLEANUP_JSON = NULL;
	size_t size = 0;
	if (file_open_to_read(path, &fd, NULL) < 0 ||
	    file_read_some(fd, path, data, sizeof(data), &size, NULL) < 0 || size == 0 ||
	    data[0] != '{' || size == sizeof(data) ||
	    image_document_parse(data, size, &json, NULL) < 0)
		return false;
	return text_equal(json_pointer_string(json, "/config/digest"), configuration);
}

/* An image that was imported has no name with a digest: then its configuration is all that CRI tells. */
static int find_manifest(struct containerd_store *store, const char *configuration,
			 struct error *err)
{
	enum { BLOBS_MAX = 100000 };
	char *directory CLEANUP_FREE = path_join(store->blobs, "sha256");
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = directory != NULL ? file_list(directory, &names, err) : error_memory(err);
	for (size_t i = 0; rc == 0 && i < names.count && i < BLOBS_MAX; i++) {
		char *path CLEANUP_FREE = path_join(directory, names.items[i]);
		if (path == NULL)
			return error_memory(err);
		if (!is_manifest_of(path, configuration))
			continue;
		store->digest = text_format("sha256:%s", names.items[i]);
		return store->digest != NULL ? 0 : error_memory(err);
	}
	return rc < 0 ? rc
		      : error_set(err, ERROR_NOT_FOUND, "no manifest of the image %s is in %s",
				  configuration, store->blobs);
}

static int use_status(struct containerd_store *store, const Runtime__V1__Image *image,
		      struct error *err)
{
	if (image == NULL)
		return error_set(err, ERROR_NOT_FOUND,
				 "containerd has no such image for Kubernetes (namespace k8s.io)");
	for (size_t i = 0; i < image->n_repo_digests; i++) {
		const char *at = strrchr(image->repo_digests[i], '@');
		if (at == NULL || !digest_is_valid(at + 1))
			continue;
		store->digest = strdup(at + 1);
		return store->digest != NULL ? 0 : error_memory(err);
	}
	return find_manifest(store, image->id, err);
}

static int ask_runtime(struct containerd_store *store, const char *name, const char *address,
		       struct error *err)
{
	uv_loop_t loop;
	struct cri *cri = NULL;
	Runtime__V1__ImageStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	int rc = loop_open(&loop, err);
	if (rc < 0)
		return rc;
	rc = cri_open(&loop, address, &cri, err);
	if (rc == 0)
		rc = cri_image_status_wait(cri, name, false, &reply, err);
	cri_close(cri);
	(void)loop_drain(&loop, 1000, NULL);
	return rc == 0 ? use_status(store, reply->image, err) : error_wrap(err, rc, "%s", address);
}

int source_containerd_open(const char *name, const struct image_source_options *options,
			   const struct source_kind **kind, void **self, struct error *err)
{
	struct containerd_store *store CLEANUP(store_cleanup) = calloc(1, sizeof(*store));
	const char *root =
		options->containerd_root != NULL ? options->containerd_root : "/var/lib/containerd";
	const char *address = options->containerd_address != NULL
				      ? options->containerd_address
				      : "unix:///run/containerd/containerd.sock";
	if (store == NULL || (store->blobs = path_join(root, CONTENT)) == NULL)
		return error_memory(err);
	int rc = 0;
	if (!digest_is_valid(name))
		rc = ask_runtime(store, name, address, err);
	else if ((store->digest = strdup(name)) == NULL)
		rc = error_memory(err);
	if (rc < 0)
		return rc;
	*kind = &store_kind;
	*self = STEAL(store);
	return 0;
}
