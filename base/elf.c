/* SPDX-License-Identifier: MIT */
#include "base/elf.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/version.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct elf_reader {
	const struct byte_source *source;
	struct elf_info *info;
	void *segments; /* array of Elf64_Phdr or Elf32_Phdr */
	size_t segment_count;
	uint64_t strings_offset, strings_size;
	uint64_t versions, versions_count; /* DT_VERNEED, DT_VERNEEDNUM; 0: none */
	struct error *err;
};

/* A member of an element of an array of Elf64_TYPE or Elf32_TYPE, whichever the file has. */
#define ELF_GET(reader, array, index, type, member)                                                \
	((reader)->info->bits == 64 ? (uint64_t)((const Elf64_##type *)(array))[index].member      \
				    : (uint64_t)((const Elf32_##type *)(array))[index].member)

static int read_at(const struct elf_reader *reader, uint64_t offset, void *out, size_t size,
		   size_t *got)
{
	const struct byte_source *source = reader->source;
	*got = 0;
	return offset <= INT64_MAX
		       ? source->read_at(source->user, offset, out, size, got, reader->err)
		       : 0;
}

static int read_exactly(const struct elf_reader *reader, uint64_t offset, void *out, size_t size,
			const char *what)
{
	size_t got = 0;
	int rc = read_at(reader, offset, out, size, &got);
	if (rc == 0 && got != size)
		rc = error_set(reader->err, ERROR_FORMAT, "ELF file ends within its %s", what);
	return rc;
}

/* A string of at most `available` bytes with its NUL. Caller frees *out. */
static int read_string(const struct elf_reader *reader, uint64_t offset, uint64_t available,
		       const char *what, char **out)
{
	char buffer[ELF_STRING_MAX];
	size_t size = available < sizeof(buffer) ? (size_t)available : sizeof(buffer);
	size_t got = 0;
	int rc = read_at(reader, offset, buffer, size, &got);
	if (rc < 0)
		return rc;
	if (memchr(buffer, '\0', got) == NULL)
		return error_set(reader->err, ERROR_FORMAT, "ELF %s does not end", what);
	*out = memory_copy(buffer);
	return *out != NULL ? 0 : error_memory(reader->err);
}

static int read_header(struct elf_reader *reader)
{
	unsigned char identity[EI_NIDENT] = {0};
	size_t got = 0;
	int rc = read_at(reader, 0, identity, sizeof(identity), &got);
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
	bool wide = identity[EI_CLASS] == ELFCLASS64;
	reader->info->bits = wide ? 64 : 32;

	union {
		Elf64_Ehdr wide;
		Elf32_Ehdr narrow;
	} header = {.wide = {{0}}};
	size_t size = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	rc = read_exactly(reader, 0, &header, wide ? sizeof(header.wide) : sizeof(header.narrow),
			  "header");
	if (rc < 0)
		return rc;
	reader->info->machine = (unsigned)ELF_GET(reader, &header, 0, Ehdr, e_machine);
	uint64_t count = ELF_GET(reader, &header, 0, Ehdr, e_phnum);
	uint64_t given = ELF_GET(reader, &header, 0, Ehdr, e_phentsize);
	if (count > ELF_PROGRAM_HEADERS_MAX)
		return error_set(reader->err, ERROR_LIMIT, "ELF file has %u program headers",
				 (unsigned)count);
	if (count != 0 && given != size)
		return error_set(reader->err, ERROR_FORMAT, "ELF program headers of %u bytes",
				 (unsigned)given);
	reader->segments = memory_allocate(count + 1, size);
	if (reader->segments == NULL)
		return error_memory(reader->err);
	reader->segment_count = count;
	return read_exactly(reader, ELF_GET(reader, &header, 0, Ehdr, e_phoff), reader->segments,
			    count * size, "program headers");
}

/* The place of the first segment of a type; false: none. */
static bool find_segment(const struct elf_reader *reader, uint32_t type, uint64_t *offset,
			 uint64_t *size)
{
	for (size_t i = 0; i < reader->segment_count; i++) {
		if (ELF_GET(reader, reader->segments, i, Phdr, p_type) != type)
			continue;
		*offset = ELF_GET(reader, reader->segments, i, Phdr, p_offset);
		*size = ELF_GET(reader, reader->segments, i, Phdr, p_filesz);
		return true;
	}
	return false;
}

/* The place in the file of an address in memory, and the bytes of the file that follow it there. */
static bool file_offset(const struct elf_reader *reader, uint64_t address, uint64_t *offset,
			uint64_t *available)
{
	for (size_t i = 0; i < reader->segment_count; i++) {
		uint64_t start = ELF_GET(reader, reader->segments, i, Phdr, p_vaddr);
		uint64_t size = ELF_GET(reader, reader->segments, i, Phdr, p_filesz);
		uint64_t place = ELF_GET(reader, reader->segments, i, Phdr, p_offset);
		uint64_t within = address - start;
		if (ELF_GET(reader, reader->segments, i, Phdr, p_type) != PT_LOAD ||
		    address < start || within >= size || place > UINT64_MAX - within)
			continue;
		*offset = place + within;
		*available = size - within;
		return true;
	}
	return false;
}

static int find_strings(struct elf_reader *reader, const void *entries, size_t count)
{
	uint64_t address = 0;
	uint64_t size = 0;
	uint64_t available = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t tag = ELF_GET(reader, entries, i, Dyn, d_tag);
		uint64_t value = ELF_GET(reader, entries, i, Dyn, d_un.d_val);
		if (tag == DT_NULL)
			break;
		if (tag == DT_STRTAB)
			address = value;
		else if (tag == DT_STRSZ)
			size = value;
	}
	if (!file_offset(reader, address, &reader->strings_offset, &available))
		return error_set(reader->err, ERROR_FORMAT, "ELF string table is not in the file");
	reader->strings_size = size < available ? size : available;
	if (reader->source->expect == NULL)
		return 0;
	return reader->source->expect(reader->source->user, reader->strings_offset,
				      reader->strings_size, reader->err);
}

static int dynamic_string(const struct elf_reader *reader, uint64_t index, const char *what,
			  char **out)
{
	if (index >= reader->strings_size)
		return error_set(reader->err, ERROR_FORMAT, "ELF %s is outside the string table",
				 what);
	return read_string(reader, reader->strings_offset + index, reader->strings_size - index,
			   what, out);
}

static int take_path(struct elf_reader *reader, uint64_t index, const char *what,
		     struct text_list *out)
{
	char *path CLEANUP_FREE = NULL;
	int rc = dynamic_string(reader, index, what, &path);
	if (rc < 0)
		return rc;
	text_list_free(out);
	text_list_split(out, path, ':');
	return text_list_check(out, reader->err);
}

static int take_entry(struct elf_reader *reader, uint64_t tag, uint64_t value)
{
	struct elf_info *info = reader->info;
	char *name = NULL;
	int rc = 0;
	switch (tag) {
	case DT_NEEDED:
		if (info->needed.count >= ELF_NEEDED_MAX)
			return error_set(reader->err, ERROR_LIMIT,
					 "ELF file needs more than %d libraries",
					 (int)ELF_NEEDED_MAX);
		rc = dynamic_string(reader, value, "DT_NEEDED", &name);
		if (rc < 0)
			return rc;
		text_list_take(&info->needed, name);
		return text_list_check(&info->needed, reader->err);
	case DT_SONAME:
		free(STEAL(info->soname));
		return dynamic_string(reader, value, "DT_SONAME", &info->soname);
	case DT_RPATH:
		return take_path(reader, value, "DT_RPATH", &info->rpath);
	case DT_RUNPATH:
		return take_path(reader, value, "DT_RUNPATH", &info->runpath);
	case DT_VERNEED:
		reader->versions = value;
		return 0;
	case DT_VERNEEDNUM:
		reader->versions_count = value;
		return 0;
	case DT_FLAGS_1:
		info->no_default_directories = (value & DF_1_NODEFLIB) != 0;
		return 0;
	default:
		return 0;
	}
}

static int take_version(struct elf_reader *reader, uint64_t index)
{
	static const char prefix[] = "GLIBC_";
	char *name CLEANUP_FREE = NULL;
	const char *newest = reader->info->glibc;
	int rc = dynamic_string(reader, index, "symbol version", &name);
	if (rc < 0 || !text_starts_with(name, prefix))
		return rc;
	const char *version = name + sizeof(prefix) - 1;
	if (!version_is_valid(version) || (newest != NULL && version_compare(version, newest) <= 0))
		return 0;
	free(reader->info->glibc);
	reader->info->glibc = memory_copy(version);
	return reader->info->glibc != NULL ? 0 : error_memory(reader->err);
}

/* The versions that are needed of one library; both structures are alike in 32 and 64 bits. */
static int take_versions_of(struct elf_reader *reader, uint64_t offset, const Elf64_Verneed *need,
			    size_t *left)
{
	Elf64_Vernaux one = {.vna_next = need->vn_aux};
	for (unsigned i = 0; i < need->vn_cnt && one.vna_next != 0; i++) {
		offset += one.vna_next;
		int rc = read_exactly(reader, offset, &one, sizeof(one), "symbol version");
		if (rc == 0)
			rc = take_version(reader, one.vna_name);
		if (rc == 0 && (*left)-- == 0)
			rc = error_set(reader->err, ERROR_LIMIT,
				       "ELF file needs more than %d symbol versions",
				       (int)ELF_VERSIONS_MAX);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_versions(struct elf_reader *reader)
{
	Elf64_Verneed need = {0};
	size_t left = ELF_VERSIONS_MAX;
	uint64_t offset = 0;
	uint64_t available = 0;
	uint64_t count = reader->versions_count;
	if (reader->versions == 0 || count == 0)
		return 0;
	if (count > ELF_NEEDED_MAX || !file_offset(reader, reader->versions, &offset, &available))
		return error_set(reader->err, ERROR_FORMAT,
				 "ELF symbol versions are not in the file, or too many");
	for (uint64_t i = 0; i < count; i++) {
		offset += need.vn_next;
		int rc = read_exactly(reader, offset, &need, sizeof(need), "symbol versions");
		if (rc == 0)
			rc = take_versions_of(reader, offset, &need, &left);
		if (rc < 0 || need.vn_next == 0)
			return rc;
	}
	return 0;
}

static int read_dynamic(struct elf_reader *reader)
{
	size_t entry_size = reader->info->bits == 64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
	uint64_t offset = 0;
	uint64_t size = 0;
	if (!find_segment(reader, PT_DYNAMIC, &offset, &size) || size < entry_size)
		return 0;
	if (size > ELF_DYNAMIC_SIZE_MAX)
		return error_set(reader->err, ERROR_LIMIT, "ELF dynamic section is too large");
	size_t count = (size_t)size / entry_size;
	void *entries CLEANUP_FREE = memory_allocate(count, entry_size);
	if (entries == NULL)
		return error_memory(reader->err);
	int rc = read_exactly(reader, offset, entries, count * entry_size, "dynamic section");
	if (rc == 0)
		rc = find_strings(reader, entries, count);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		uint64_t tag = ELF_GET(reader, entries, i, Dyn, d_tag);
		if (tag == DT_NULL)
			break;
		rc = take_entry(reader, tag, ELF_GET(reader, entries, i, Dyn, d_un.d_val));
	}
	if (rc == 0)
		rc = read_versions(reader);
	return rc;
}

/* The highest level among the bits of GNU_PROPERTY_X86_ISA_1_NEEDED (x86-64 psABI, "Program
 * Property"): baseline, v2, v3, v4. */
static int read_properties(struct elf_reader *reader)
{
	enum {
		NAME_SIZE = 4,
		NOTE_PROPERTY = 5,
		SEGMENT_PROPERTY = 0x6474e553,
		HEADER = 8,
		LEVELS = 4
	};
	static const uint32_t x86_isa_1_needed = 0xc0008002;
	unsigned char notes[1024];
	Elf64_Nhdr note = {0};
	const size_t head = sizeof(note) + NAME_SIZE;
	uint64_t offset = 0;
	uint64_t size = 0;
	size_t got = 0;
	if (reader->info->machine != EM_X86_64 ||
	    !find_segment(reader, SEGMENT_PROPERTY, &offset, &size))
		return 0;
	int rc = read_at(reader, offset, notes, size < sizeof(notes) ? (size_t)size : sizeof(notes),
			 &got);
	if (rc < 0 || got < head)
		return rc;
	memcpy(&note, notes, sizeof(note));
	if (note.n_type != NOTE_PROPERTY || note.n_namesz != NAME_SIZE ||
	    note.n_descsz > got - head || memcmp(notes + sizeof(note), "GNU", NAME_SIZE) != 0)
		return 0;

	const unsigned char *data = notes + head;
	const size_t alignment = reader->info->bits / 8;
	for (size_t left = note.n_descsz; left >= HEADER;) {
		uint32_t property[2] = {0};
		uint32_t bits = 0;
		memcpy(property, data, sizeof(property));
		size_t step = ((size_t)property[1] + alignment - 1) / alignment * alignment;
		if (step > left - HEADER)
			break;
		if (property[0] == x86_isa_1_needed && property[1] >= sizeof(bits))
			memcpy(&bits, data + HEADER, sizeof(bits));
		for (unsigned i = 0; i < LEVELS; i++)
			if ((bits & 1U << i) != 0 && reader->info->x86_level < i + 1)
				reader->info->x86_level = i + 1;
		data += HEADER + step;
		left -= HEADER + step;
	}
	return 0;
}

int elf_read_from(const struct byte_source *source, struct elf_info *out, struct error *err)
{
	struct elf_info info CLEANUP(elf_info_free) = {0};
	struct elf_reader reader = {.source = source, .info = &info, .err = err};
	uint64_t offset = 0;
	uint64_t size = 0;
	int rc = read_header(&reader);
	if (rc == 0 && find_segment(&reader, PT_INTERP, &offset, &size))
		rc = read_string(&reader, offset, size, "interpreter", &info.interpreter);
	if (rc == 0)
		rc = read_dynamic(&reader);
	if (rc == 0)
		rc = read_properties(&reader);
	free(reader.segments);
	if (rc < 0)
		return rc;
	*out = STEAL(info);
	return 0;
}

static int file_read_at(void *user, uint64_t offset, void *out, size_t size, size_t *got,
			struct error *err)
{
	const int *fd = user;
	while (*got < size) {
		ssize_t count = pread(*fd, (char *)out + *got, size - *got, (off_t)(offset + *got));
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_system(err, errno, "reading");
		if (count == 0)
			break;
		*got += (size_t)count;
	}
	return 0;
}

int elf_read(const char *path, struct elf_info *out, struct error *err)
{
	int fd CLEANUP_FD = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const struct byte_source source = {.read_at = file_read_at, .user = &fd};
	struct stat status = {0};
	if (fd < 0 || fstat(fd, &status) < 0)
		return error_system(err, errno, "%s", path);
	if (!S_ISREG(status.st_mode))
		return error_set(err, ERROR_FORMAT, "%s: not a regular file", path);
	int rc = elf_read_from(&source, out, err);
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}

void elf_info_free(struct elf_info *info)
{
	free(info->interpreter);
	free(info->soname);
	free(info->glibc);
	text_list_free(&info->needed);
	text_list_free(&info->rpath);
	text_list_free(&info->runpath);
	*info = (struct elf_info){0};
}
