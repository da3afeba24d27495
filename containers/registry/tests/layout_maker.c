/* SPDX-License-Identifier: MIT */
#include "containers/registry/tests/layout_maker.h"

#include <archive.h>
#include <archive_entry.h>

void layout_maker_open(struct layout_maker *maker)
{
	*maker = (struct layout_maker){0};
	CU_ASSERT_EQUAL_FATAL(file_make_temporary(NULL, "gpucert-test-", &maker->directory, NULL),
			      0);
	maker->string = text_format("oci:%s", maker->directory);
	layout_write(maker, "oci-layout", "{\"imageLayoutVersion\": \"1.0.0\"}");
}

void layout_maker_close(struct layout_maker *maker)
{
	CU_ASSERT_EQUAL(file_remove_tree(maker->directory, NULL), 0);
	free(maker->directory);
	free(maker->string);
}

void layout_write(const struct layout_maker *maker, const char *name, const char *content)
{
	char *path CLEANUP_FREE = path_join(maker->directory, name);
	char *folder CLEANUP_FREE = path_directory(path);
	CU_ASSERT_EQUAL_FATAL(file_make_directories(folder, 0755, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, content, strlen(content), 0644, NULL), 0);
}

void layout_put(const struct layout_maker *maker, const char *digest, const char *content)
{
	char *name CLEANUP_FREE = text_format("blobs/%.6s/%s", digest, digest + sizeof("sha256"));
	layout_write(maker, name, content);
}

void layout_add(const struct layout_maker *maker, const char *content,
		char digest[DIGEST_TEXT_SIZE])
{
	digest_bytes(content, strlen(content), digest);
	layout_put(maker, digest, content);
}

void layout_add_image(const struct layout_maker *maker, const char *configuration,
		      const char *layer, char digest[DIGEST_TEXT_SIZE], size_t *size)
{
	char config[DIGEST_TEXT_SIZE] = "";
	char content[DIGEST_TEXT_SIZE] = "";
	layout_add(maker, configuration, config);
	layout_add(maker, layer, content);
	char *manifest CLEANUP_FREE = text_format(
		"{\"schemaVersion\": 2, \"mediaType\": \"" OCI_MANIFEST "\", \"config\": "
		"{\"mediaType\": \"application/vnd.oci.image.config.v1+json\", \"digest\": \"%s\", "
		"\"size\": %zu}, \"layers\": [{\"mediaType\": "
		"\"application/vnd.oci.image.layer.v1.tar\", \"digest\": \"%s\", \"size\": %zu}], "
		"\"annotations\": {\"org.example\": \"yes\"}}",
		config, strlen(configuration), content, strlen(layer));
	*size = strlen(manifest);
	layout_add(maker, manifest, digest);
}

void layout_write_index(const struct layout_maker *maker, const char *format, ...)
{
	struct text text CLEANUP_TEXT = {0};
	va_list args;
	va_start(args, format);
	text_vaddf(&text, format, args);
	va_end(args);
	layout_write(maker, "index.json", text_string(&text));
}

char *layout_pack(const struct layout_maker *maker, const char *name, const struct tar_file *files,
		  size_t count, bool compressed)
{
	char *path = path_join(maker->directory, name);
	struct archive *archive = archive_write_new();
	CU_ASSERT_EQUAL_FATAL(archive_write_set_format_pax_restricted(archive), ARCHIVE_OK);
	if (compressed)
		CU_ASSERT_EQUAL_FATAL(archive_write_add_filter_gzip(archive), ARCHIVE_OK);
	CU_ASSERT_EQUAL_FATAL(archive_write_open_filename(archive, path), ARCHIVE_OK);
	for (size_t i = 0; i < count; i++) {
		struct archive_entry *entry = archive_entry_new();
		size_t size = files[i].content != NULL ? strlen(files[i].content) : 0;
		archive_entry_set_pathname(entry, files[i].name);
		archive_entry_set_perm(entry, 0644);
		archive_entry_set_filetype(entry, files[i].link != NULL ? AE_IFLNK : AE_IFREG);
		archive_entry_set_size(entry, (int64_t)size);
		if (files[i].link != NULL)
			archive_entry_set_symlink(entry, files[i].link);
		if (files[i].hardlink != NULL)
			archive_entry_set_hardlink(entry, files[i].hardlink);
		CU_ASSERT_EQUAL_FATAL(archive_write_header(archive, entry), ARCHIVE_OK);
		if (size > 0)
			CU_ASSERT_EQUAL(archive_write_data(archive, files[i].content, size),
					(la_ssize_t)size);
		archive_entry_free(entry);
	}
	CU_ASSERT_EQUAL(archive_write_free(archive), ARCHIVE_OK);
	return path;
}

int layout_can_compress(void)
{
	struct archive *archive = archive_write_new();
	int can = archive_write_add_filter_gzip(archive) == ARCHIVE_OK;
	CU_ASSERT_EQUAL(archive_write_free(archive), ARCHIVE_OK);
	return can;
}
