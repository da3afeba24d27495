/* SPDX-License-Identifier: MIT */
#include "containers/judging/contents/internal.h"

#include <stdio.h>
#include <string.h>

/* Offsets and sizes of Microsoft's "PE Format" and of VS_FIXEDFILEINFO (verrsrc.h). */
enum {
	DOS_HEADER = 64,
	DOS_NEW_HEADER = 60,
	COFF_HEADER = 24, /* with the signature */
	SECTION_HEADER = 40,
	SECTIONS_MAX = 96,
	DIRECTORY_HEADER = 16,
	DIRECTORY_ENTRY = 8,
	DIRECTORY_ENTRIES_MAX = 4096,
	RESOURCE_VERSION = 16,
	DEPTH = 3, /* type, name, language */
	INFO_MAX = 1024,
	FIXED_INFO = 52,
};

struct pe_reader {
	const struct byte_source *source;
	uint32_t resources, resources_size; /* address in memory */
	uint32_t memory, file;		    /* of the section that holds them */
	struct error *err;
};

static uint32_t number(const unsigned char *bytes, size_t size)
{
	uint32_t value = 0;
	for (size_t i = size; i > 0; i--)
		value = value << 8 | bytes[i - 1];
	return value;
}

static int read_exactly(const struct pe_reader *reader, uint64_t offset, unsigned char *out,
			size_t size)
{
	size_t got = 0;
	int rc =
		reader->source->read_at(reader->source->user, offset, out, size, &got, reader->err);
	if (rc == 0 && got < size)
		rc = error_set(reader->err, ERROR_FORMAT, "PE file ends at byte %llu",
			       (unsigned long long)offset + got);
	return rc;
}

/* Finds the resources, and the section that holds them. */
static int read_headers(struct pe_reader *reader)
{
	unsigned char dos[DOS_HEADER];
	unsigned char coff[COFF_HEADER];
	unsigned char directory[8];
	unsigned char magic[2];
	int rc = read_exactly(reader, 0, dos, sizeof(dos));
	const uint64_t at = number(dos + DOS_NEW_HEADER, 4);
	if (rc == 0 && memcmp(dos, "MZ", 2) != 0)
		rc = error_set(reader->err, ERROR_FORMAT, "not a PE file");
	if (rc == 0)
		rc = read_exactly(reader, at, coff, sizeof(coff));
	if (rc == 0 && memcmp(coff, "PE\0", 4) != 0)
		rc = error_set(reader->err, ERROR_FORMAT, "not a PE file");
	if (rc == 0)
		rc = read_exactly(reader, at + sizeof(coff), magic, sizeof(magic));
	if (rc < 0)
		return rc;

	/* PE32 and PE32+ differ by 16 bytes before the data directories; the third is that of resources. */
	const uint64_t directories = at + sizeof(coff) + (number(magic, 2) == 0x20b ? 112 : 96);
	rc = read_exactly(reader, directories + 2 * sizeof(directory), directory,
			  sizeof(directory));
	if (rc < 0)
		return rc;
	reader->resources = number(directory, 4);
	reader->resources_size = number(directory + 4, 4);
	if (reader->resources == 0 || reader->resources_size == 0)
		return error_set(reader->err, ERROR_NOT_FOUND, "no resources");

	const uint64_t sections = at + sizeof(coff) + number(coff + 20, 2);
	const size_t count = number(coff + 6, 2);
	if (count > SECTIONS_MAX)
		return error_set(reader->err, ERROR_LIMIT, "PE file has %zu sections", count);
	for (size_t i = 0; i < count; i++) {
		unsigned char header[SECTION_HEADER];
		rc = read_exactly(reader, sections + i * sizeof(header), header, sizeof(header));
		if (rc < 0)
			return rc;
		const uint32_t memory = number(header + 12, 4);
		const uint32_t size = number(header + 16, 4);
		if (reader->resources < memory || reader->resources - memory >= size)
			continue;
		reader->memory = memory;
		reader->file = number(header + 20, 4);
		return 0;
	}
	return error_set(reader->err, ERROR_FORMAT, "PE resources are in no section");
}

/* Finds the entry of a directory of resources with an id (0: any). *out is its target, as an offset from
 * the start of the resources. */
static int find_entry(const struct pe_reader *reader, uint32_t directory, uint32_t id,
		      uint32_t *out)
{
	const uint64_t place =
		(uint64_t)reader->file + (reader->resources - reader->memory) + directory;
	unsigned char header[DIRECTORY_HEADER];
	unsigned char entry[DIRECTORY_ENTRY];
	int rc = read_exactly(reader, place, header, sizeof(header));
	if (rc < 0)
		return rc;
	const size_t count = number(header + 12, 2) + number(header + 14, 2);
	for (size_t i = 0; i < count && i < DIRECTORY_ENTRIES_MAX; i++) {
		rc = read_exactly(reader, place + sizeof(header) + i * sizeof(entry), entry,
				  sizeof(entry));
		if (rc < 0)
			return rc;
		if (id != 0 && number(entry, 4) != id)
			continue;
		*out = number(entry + 4, 4);
		return 0;
	}
	return error_set(reader->err, ERROR_NOT_FOUND, "no version resource");
}

int pe_version(const struct byte_source *source, char *out, struct error *err)
{
	static const unsigned char signature[] = {0xbd, 0x04, 0xef, 0xfe};
	static const uint32_t is_directory = 0x80000000U;
	struct pe_reader reader = {.source = source, .err = err};
	unsigned char data[16];
	unsigned char info[INFO_MAX];
	uint32_t entry = is_directory;
	int rc = read_headers(&reader);
	const uint64_t start = (uint64_t)reader.file + (reader.resources - reader.memory);
	if (rc == 0 && source->expect != NULL)
		rc = source->expect(source->user, start, reader.resources_size, err);
	for (int depth = 0; rc == 0 && depth < DEPTH && (entry & is_directory) != 0; depth++)
		rc = find_entry(&reader, entry & ~is_directory, depth == 0 ? RESOURCE_VERSION : 0,
				&entry);
	if (rc == 0 && (entry & is_directory) != 0)
		rc = error_set(err, ERROR_FORMAT, "PE resources are nested too deep");
	if (rc == 0)
		rc = read_exactly(&reader, start + entry, data, sizeof(data));
	if (rc < 0)
		return rc;
	if (number(data, 4) < reader.memory)
		return error_set(err, ERROR_FORMAT, "PE version is outside its section");
	const uint64_t offset = (uint64_t)number(data, 4) - reader.memory + reader.file;
	const size_t stated = number(data + 4, 4);
	const size_t size = stated < sizeof(info) ? stated : sizeof(info);
	rc = read_exactly(&reader, offset, info, size);
	/* It begins after the name "VS_VERSION_INFO", at a multiple of 4. */
	for (size_t at = 0; rc == 0 && at + FIXED_INFO <= size; at += 4) {
		if (memcmp(info + at, signature, sizeof(signature)) != 0)
			continue;
		(void)snprintf(out, PE_VERSION_SIZE, "%u.%u.%u.%u", number(info + at + 10, 2),
			       number(info + at + 8, 2), number(info + at + 14, 2),
			       number(info + at + 12, 2));
		return 0;
	}
	return rc < 0 ? rc : error_set(err, ERROR_NOT_FOUND, "no version in the version resource");
}
