/* SPDX-License-Identifier: MIT */
#include "containers/judging/contents/tests/layers.h"

#include "base/tests/elf_maker.h"

#include <archive.h>
#include <archive_entry.h>
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>

enum { FILE_MAX = 64 * 1024 * 1024 };

static void elf_content(const char *needed, struct text *out)
{
	const struct elf_recipe recipe = {
		.bits = 64, .machine = EM_X86_64, .needed = {needed[0] != '\0' ? needed : NULL}};
	elf_make(&recipe, out);
}

static void read_file(const char *path, struct text *out)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	CU_ASSERT_EQUAL_FATAL(file_read(path, FILE_MAX, &data, &size, NULL), 0);
	text_append(out, data, size);
}

static void file_content(const struct layer_entry *it, struct text *out)
{
	if (it->kind == ENTRY_TEXT)
		text_add(out, it->content);
	else if (it->kind == ENTRY_ELF)
		elf_content(it->content, out);
	else if (it->kind == ENTRY_ZEROS)
		memset(text_extend(out, it->size), 0, it->size);
	else
		read_file(it->content, out);
}

static void add_entry(struct archive *archive, const struct layer_entry *it)
{
	struct archive_entry *entry = archive_entry_new();
	struct text content CLEANUP_TEXT = {0};
	archive_entry_set_pathname(entry, it->path);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0755);
	if (it->kind == ENTRY_LINK) {
		archive_entry_set_filetype(entry, AE_IFLNK);
		archive_entry_set_symlink(entry, it->content);
	} else if (it->kind == ENTRY_HARD_LINK) {
		archive_entry_set_hardlink(entry, it->content);
	} else {
		file_content(it, &content);
	}
	archive_entry_set_size(entry, (la_int64_t)content.size);
	CU_ASSERT_EQUAL_FATAL(archive_write_header(archive, entry), ARCHIVE_OK);
	if (content.size > 0)
		CU_ASSERT_EQUAL_FATAL(archive_write_data(archive, content.data, content.size),
				      (la_ssize_t)content.size);
	archive_entry_free(entry);
}

/* Writes a layer into the layout; its digest and size. */
static void make_layer(const struct layout_maker *maker, const struct layer *layer,
		       char digest[DIGEST_TEXT_SIZE], size_t *size)
{
	struct archive *archive = archive_write_new();
	struct text content CLEANUP_TEXT = {0};
	char *path CLEANUP_FREE = path_join(maker->directory, "layer");
	CU_ASSERT_EQUAL_FATAL(archive_write_set_format_pax_restricted(archive), ARCHIVE_OK);
	if (layer->filter == LAYER_GZIP)
		CU_ASSERT_EQUAL_FATAL(archive_write_add_filter_gzip(archive), ARCHIVE_OK);
	if (layer->filter == LAYER_ZSTD)
		CU_ASSERT_EQUAL_FATAL(archive_write_add_filter_zstd(archive), ARCHIVE_OK);
	CU_ASSERT_EQUAL_FATAL(archive_write_open_filename(archive, path), ARCHIVE_OK);
	for (const struct layer_entry *it = layer->entries; it->kind != ENTRY_END; it++)
		add_entry(archive, it);
	CU_ASSERT_EQUAL_FATAL(archive_write_close(archive), ARCHIVE_OK);
	CU_ASSERT_EQUAL_FATAL(archive_write_free(archive), ARCHIVE_OK);
	read_file(path, &content);
	digest_bytes(content.data, content.size, digest);
	*size = content.size;
	char *blob CLEANUP_FREE =
		text_format("%s/blobs/sha256/%s", maker->directory, digest + sizeof("sha256"));
	char *folder CLEANUP_FREE = path_directory(blob);
	CU_ASSERT_EQUAL_FATAL(file_make_directories(folder, 0755, NULL), 0);
	if (layer->absent) {
		CU_ASSERT_EQUAL_FATAL(remove(path), 0);
	} else {
		CU_ASSERT_EQUAL_FATAL(rename(path, blob), 0);
	}
}

void layers_make(const struct layout_maker *maker, const struct layer *layers,
		 const char *entrypoint)
{
	static const char *const types[] = {
		[LAYER_PLAIN] = "application/vnd.oci.image.layer.v1.tar",
		[LAYER_GZIP] = "application/vnd.oci.image.layer.v1.tar+gzip",
		[LAYER_ZSTD] = "application/vnd.oci.image.layer.v1.tar+zstd",
	};
	struct text list CLEANUP_TEXT = {0};
	char config[DIGEST_TEXT_SIZE] = "";
	char digest[DIGEST_TEXT_SIZE] = "";
	size_t size = 0;
	for (const struct layer *layer = layers; layer->entries != NULL; layer++) {
		make_layer(maker, layer, digest, &size);
		text_addf(&list, "%s{\"mediaType\": \"%s\", \"digest\": \"%s\", \"size\": %zu}",
			  layer == layers ? "" : ", ",
			  layer->media_type != NULL ? layer->media_type : types[layer->filter],
			  digest, size);
	}
	char *configuration CLEANUP_FREE =
		text_format("{\"os\": \"linux\", \"architecture\": \"amd64\", \"config\": "
			    "{\"Entrypoint\": %s}}",
			    entrypoint != NULL ? entrypoint : "null");
	layout_add(maker, configuration, config);
	char *manifest CLEANUP_FREE = text_format(
		"{\"schemaVersion\": 2, \"mediaType\": \"" OCI_MANIFEST "\", \"config\": "
		"{\"mediaType\": \"application/vnd.oci.image.config.v1+json\", \"digest\": \"%s\", "
		"\"size\": %zu}, \"layers\": [%s]}",
		config, strlen(configuration), text_string(&list));
	layout_add(maker, manifest, digest);
	layout_write_index(maker,
			   "{\"schemaVersion\": 2, \"manifests\": [{\"mediaType\": \"" OCI_MANIFEST
			   "\", \"digest\": \"%s\", \"size\": %zu}]}",
			   digest, strlen(manifest));
}
