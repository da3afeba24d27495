/* SPDX-License-Identifier: MIT */
#include "base/elf.h"

#include "base/cleanup.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One layout for both word sizes. */
struct elf_segment {
	uint32_t type;
	uint64_t offset, address, file_size;
};

struct elf_reader {
	int fd;
	struct elf_info *info;
	struct elf_segment *segments;
	size_t segment_count;
	uint64_t strings_offset, strings_size;
	struct error *err;
};

static int elf_read_at(const struct elf_reader *reader, uint64_t offset, void *out, size_t size,
		       size_t *got)
{
	*got = 0;
	if (offset > INT64_MAX)
		return 0;
	while (*got < size) {
		ssize_t count =
			pread(reader->fd, (char *)out + *got, size - *got, (off_t)(offset + *got));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_system(reader->err, errno, "reading");
		if (count == 0)
			break;
		*got += (size_t)count;
	}
	return 0;
}

static int elf_read_exactly(const struct elf_reader *reader, uint64_t offset, void *out,
			    size_t size, const char *what)
{
	size_t got = 0;
	int rc = elf_read_at(reader, offset, out, size, &got);

	if (rc == 0 && got != size)
		rc = error_set(reader->err, ERROR_FORMAT, "ELF file ends within its %s", what);
	return rc;
}

/* A string of at most `available` bytes with its NUL. Caller frees *out. */
static int elf_read_string(const struct elf_reader *reader, uint64_t offset, uint64_t available,
			   const char *what, char **out)
{
	char buffer[ELF_STRING_MAX];
	size_t size = available < sizeof(buffer) ? (size_t)available : sizeof(buffer);
	size_t got = 0;
	int rc = 0;

	/* Nearly all strings are short. */
	for (size_t piece = 128; rc == 0; piece = size) {
		piece = piece < size ? piece : size;
		rc = elf_read_at(reader, offset, buffer, piece, &got);
		if (rc == 0 && memchr(buffer, '\0', got) != NULL) {
			*out = strdup(buffer);
			return *out != NULL ? 0 : error_memory(reader->err);
		}
		if (piece == size || got < piece)
			break;
	}
	return rc < 0 ? rc : error_set(reader->err, ERROR_FORMAT, "ELF %s does not end", what);
}

static int elf_read_identity(struct elf_reader *reader)
{
	unsigned char identity[EI_NIDENT] = {0};
	size_t got = 0;
	int rc = elf_read_at(reader, 0, identity, sizeof(identity), &got);

	if (rc < 0)
		return rc;
	if (got < sizeof(identity) || memcmp(identity, ELFMAG, SELFMAG) != 0)
		return error_set(reader->err, ERROR_FORMAT, "not an ELF file");
	if (identity[EI_CLASS] != ELFCLASS64 && identity[EI_CLASS] != ELFCLASS32)
		return error_set(reader->err, ERROR_FORMAT,
				 "ELF class %u is neither 32 nor 64 bits",
				 (unsigned)identity[EI_CLASS]);
	if (identity[EI_DATA] != ELFDATA2LSB)
		return error_set(reader->err, ERROR_UNSUPPORTED, "ELF file is not little-endian");
	reader->info->bits = identity[EI_CLASS] == ELFCLASS64 ? 64 : 32;
	return 0;
}

/* The place and shape of the program headers. */
struct elf_table {
	uint64_t offset;
	size_t count, entry_size;
};

static int elf_read_header(struct elf_reader *reader, struct elf_table *table)
{
	Elf64_Ehdr header64 = {0};
	Elf32_Ehdr header32 = {0};
	bool wide = reader->info->bits == 64;
	size_t entry_size = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	int rc = wide ? elf_read_exactly(reader, 0, &header64, sizeof(header64), "header")
		      : elf_read_exactly(reader, 0, &header32, sizeof(header32), "header");

	if (rc < 0)
		return rc;
	reader->info->machine = wide ? header64.e_machine : header32.e_machine;
	table->offset = wide ? header64.e_phoff : header32.e_phoff;
	table->count = wide ? header64.e_phnum : header32.e_phnum;
	table->entry_size = wide ? header64.e_phentsize : header32.e_phentsize;
	if (table->count > ELF_PROGRAM_HEADERS_MAX)
		return error_set(reader->err, ERROR_LIMIT, "ELF file has %zu program headers",
				 table->count);
	if (table->count != 0 && table->entry_size != entry_size)
		return error_set(reader->err, ERROR_FORMAT, "ELF program headers of %zu bytes",
				 table->entry_size);
	return 0;
}

static int elf_read_segments(struct elf_reader *reader, const struct elf_table *table)
{
	unsigned char *raw CLEANUP_FREE = calloc(table->count + 1, table->entry_size);
	int rc = 0;

	reader->segments = calloc(table->count + 1, sizeof(*reader->segments));
	if (raw == NULL || reader->segments == NULL)
		return error_memory(reader->err);
	rc = elf_read_exactly(reader, table->offset, raw, table->count * table->entry_size,
			      "program headers");
	for (size_t i = 0; rc == 0 && i < table->count; i++) {
		struct elf_segment *segment = &reader->segments[i];
		Elf64_Phdr header64 = {0};
		Elf32_Phdr header32 = {0};

		if (reader->info->bits == 64) {
			memcpy(&header64, raw + i * sizeof(header64), sizeof(header64));
			*segment = (struct elf_segment){header64.p_type, header64.p_offset,
							header64.p_vaddr, header64.p_filesz};
		} else {
			memcpy(&header32, raw + i * sizeof(header32), sizeof(header32));
			*segment = (struct elf_segment){header32.p_type, header32.p_offset,
							header32.p_vaddr, header32.p_filesz};
		}
	}
	reader->segment_count = table->count;
	return rc;
}

static const struct elf_segment *elf_segment(const struct elf_reader *reader, uint32_t type)
{
	for (size_t i = 0; i < reader->segment_count; i++) {
		if (reader->segments[i].type == type)
			return &reader->segments[i];
	}
	return NULL;
}

/* The place in the file of an address in memory, and the bytes of the file that follow it there. */
static bool elf_file_offset(const struct elf_reader *reader, uint64_t address, uint64_t *offset,
			    uint64_t *available)
{
	for (size_t i = 0; i < reader->segment_count; i++) {
		const struct elf_segment *segment = &reader->segments[i];
		uint64_t within = address - segment->address;

		if (segment->type != PT_LOAD || address < segment->address ||
		    within >= segment->file_size || segment->offset > UINT64_MAX - within)
			continue;
		*offset = segment->offset + within;
		*available = segment->file_size - within;
		return true;
	}
	return false;
}

struct elf_dynamic {
	uint64_t tag, value;
};

static struct elf_dynamic elf_dynamic_at(const struct elf_reader *reader, const unsigned char *raw,
					 size_t index)
{
	Elf64_Dyn entry64 = {0};
	Elf32_Dyn entry32 = {0};

	if (reader->info->bits == 64) {
		memcpy(&entry64, raw + index * sizeof(entry64), sizeof(entry64));
		return (struct elf_dynamic){(uint64_t)entry64.d_tag, entry64.d_un.d_val};
	}
	memcpy(&entry32, raw + index * sizeof(entry32), sizeof(entry32));
	return (struct elf_dynamic){(uint32_t)entry32.d_tag, entry32.d_un.d_val};
}

static int elf_find_strings(struct elf_reader *reader, const unsigned char *raw, size_t count)
{
	uint64_t address = 0;
	uint64_t size = 0;
	uint64_t available = 0;

	for (size_t i = 0; i < count; i++) {
		struct elf_dynamic entry = elf_dynamic_at(reader, raw, i);

		if (entry.tag == DT_NULL)
			break;
		if (entry.tag == DT_STRTAB)
			address = entry.value;
		else if (entry.tag == DT_STRSZ)
			size = entry.value;
	}
	if (!elf_file_offset(reader, address, &reader->strings_offset, &available))
		return error_set(reader->err, ERROR_FORMAT, "ELF string table is not in the file");
	reader->strings_size = size < available ? size : available;
	return 0;
}

static int elf_dynamic_string(const struct elf_reader *reader, uint64_t index, const char *what,
			      char **out)
{
	if (index >= reader->strings_size)
		return error_set(reader->err, ERROR_FORMAT, "ELF %s is outside the string table",
				 what);
	return elf_read_string(reader, reader->strings_offset + index, reader->strings_size - index,
			       what, out);
}

static int elf_take_needed(struct elf_reader *reader, uint64_t index)
{
	char *name = NULL;
	int rc = 0;

	if (reader->info->needed.count >= ELF_NEEDED_MAX)
		return error_set(reader->err, ERROR_LIMIT, "ELF file needs more than %d libraries",
				 (int)ELF_NEEDED_MAX);
	rc = elf_dynamic_string(reader, index, "DT_NEEDED", &name);
	return rc == 0 ? text_list_take(&reader->info->needed, name, reader->err) : rc;
}

static int elf_take_path(struct elf_reader *reader, uint64_t index, const char *what,
			 struct text_list *out)
{
	char *path CLEANUP_FREE = NULL;
	int rc = elf_dynamic_string(reader, index, what, &path);

	if (rc < 0)
		return rc;
	text_list_free(out);
	return text_list_split(out, path, ':', reader->err);
}

static int elf_take_entry(struct elf_reader *reader, const struct elf_dynamic *entry)
{
	struct elf_info *info = reader->info;

	switch (entry->tag) {
	case DT_NEEDED:
		return elf_take_needed(reader, entry->value);
	case DT_SONAME:
		free(STEAL(info->soname));
		return elf_dynamic_string(reader, entry->value, "DT_SONAME", &info->soname);
	case DT_RPATH:
		return elf_take_path(reader, entry->value, "DT_RPATH", &info->rpath);
	case DT_RUNPATH:
		return elf_take_path(reader, entry->value, "DT_RUNPATH", &info->runpath);
	case DT_FLAGS_1:
		info->no_default_directories = (entry->value & DF_1_NODEFLIB) != 0;
		return 0;
	default:
		return 0;
	}
}

static int elf_read_dynamic(struct elf_reader *reader)
{
	const struct elf_segment *segment = elf_segment(reader, PT_DYNAMIC);
	size_t entry_size = reader->info->bits == 64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
	unsigned char *raw CLEANUP_FREE = NULL;
	size_t count = 0;
	int rc = 0;

	if (segment == NULL || segment->file_size < entry_size)
		return 0;
	if (segment->file_size > ELF_DYNAMIC_SIZE_MAX)
		return error_set(reader->err, ERROR_LIMIT, "ELF dynamic section is too large");
	count = (size_t)segment->file_size / entry_size;
	raw = calloc(count, entry_size);
	if (raw == NULL)
		return error_memory(reader->err);
	rc = elf_read_exactly(reader, segment->offset, raw, count * entry_size, "dynamic section");
	if (rc == 0)
		rc = elf_find_strings(reader, raw, count);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct elf_dynamic entry = elf_dynamic_at(reader, raw, i);

		if (entry.tag == DT_NULL)
			break;
		rc = elf_take_entry(reader, &entry);
	}
	return rc;
}

static int elf_read_file(int fd, struct elf_info *out, struct error *err)
{
	struct elf_info info CLEANUP(elf_info_free) = {0};
	struct elf_reader reader = {.fd = fd, .info = &info, .err = err};
	const struct elf_segment *interpreter = NULL;
	struct elf_table table = {0};
	int rc = elf_read_identity(&reader);

	if (rc == 0)
		rc = elf_read_header(&reader, &table);
	if (rc == 0 && table.count != 0)
		rc = elf_read_segments(&reader, &table);
	interpreter = rc == 0 ? elf_segment(&reader, PT_INTERP) : NULL;
	if (interpreter != NULL)
		rc = elf_read_string(&reader, interpreter->offset, interpreter->file_size,
				     "interpreter", &info.interpreter);
	if (rc == 0)
		rc = elf_read_dynamic(&reader);
	free(reader.segments);
	if (rc < 0)
		return rc;
	*out = info;
	info = (struct elf_info){0};
	return 0;
}

int elf_read(const char *path, struct elf_info *out, struct error *err)
{
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status = {0};
	int rc = 0;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_system(err, errno, "%s", path);
	if (!S_ISREG(status.st_mode))
		return error_set(err, ERROR_FORMAT, "%s: not a regular file", path);
	rc = elf_read_file(fd, out, err);
	if (rc < 0)
		(void)error_wrap(err, rc, "%s", path);
	return rc;
}

void elf_info_free(struct elf_info *info)
{
	free(info->interpreter);
	free(info->soname);
	text_list_free(&info->needed);
	text_list_free(&info->rpath);
	text_list_free(&info->runpath);
	*info = (struct elf_info){0};
}
