/* SPDX-License-Identifier: MIT */
#include "base/elf.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "base/tests/elf_bytes.h"
#include "base/tests/elf_maker.h"
#include "base/tests/unit.h"

#include <elf.h>
#include <unistd.h>

#define CLEANUP_CLOSURE CLEANUP(elf_closure_cleanup)

static void test_read(unsigned bits, uint16_t machine)
{
	struct elf_info info CLEANUP(elf_info_free) = {0};
	struct text file CLEANUP_TEXT = {0};
	struct error err = {0};
	elf_make(&(struct elf_recipe){.bits = bits,
				      .machine = machine,
				      .interpreter = "/lib/ld.so",
				      .soname = "libself.so.1",
				      .rpath = "/one:/two",
				      .runpath = "$ORIGIN/../lib",
				      .needed = {"liba.so.1", "libb.so.2"},
				      .no_default_directories = true},
		 &file);
	UNIT_INT(elf_read_bytes(file.data, file.size, &info, &err), 0);
	UNIT_INT(info.bits, bits);
	UNIT_INT(info.machine, machine);
	UNIT_STRING(info.interpreter, "/lib/ld.so");
	UNIT_STRING(info.soname, "libself.so.1");
	UNIT_INT(info.needed.count, 2);
	UNIT_STRING(info.needed.items[0], "liba.so.1");
	UNIT_STRING(info.needed.items[1], "libb.so.2");
	UNIT_INT(info.rpath.count, 2);
	UNIT_STRING(info.rpath.items[1], "/two");
	UNIT_STRING(info.runpath.items[0], "$ORIGIN/../lib");
	CU_ASSERT_TRUE(info.no_default_directories);
}

static void test_read_both_word_sizes(void)
{
	test_read(64, EM_X86_64);
	test_read(32, EM_386);
}

/* Every shortening and every changed byte: an answer or an error, and no access outside. */
static void test_broken_files(void)
{
	struct text file CLEANUP_TEXT = {0};
	size_t refused = 0;
	elf_make(&(struct elf_recipe){.bits = 64,
				      .machine = EM_X86_64,
				      .interpreter = "/lib/ld.so",
				      .soname = "s",
				      .needed = {"liba.so.1"}},
		 &file);
	for (size_t size = 0; size < file.size; size++) {
		struct elf_info info CLEANUP(elf_info_free) = {0};
		char *exact CLEANUP_FREE = malloc(size + 1);
		memcpy(exact, file.data, size);
		refused += elf_read_bytes(exact, size, &info, NULL) < 0 ? 1 : 0;
	}
	UNIT_INT(refused, file.size);
	for (size_t i = 0; i < file.size * 8; i++) {
		struct elf_info info CLEANUP(elf_info_free) = {0};
		file.data[i / 8] = (char)(file.data[i / 8] ^ (1 << (i % 8)));
		(void)elf_read_bytes(file.data, file.size, &info, NULL);
		file.data[i / 8] = (char)(file.data[i / 8] ^ (1 << (i % 8)));
	}
}

static void test_errors(void)
{
	struct text file CLEANUP_TEXT = {0};
	struct elf_info info CLEANUP(elf_info_free) = {0};
	struct error err = {0};
	UNIT_INT(elf_read_bytes("#!/bin/sh\necho no ELF\n", 22, &info, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "not an ELF file");
	UNIT_INT(elf_read("/etc/passwd", &info, &err), ERROR_FORMAT);
	UNIT_STRING(err.text, "/etc/passwd: not an ELF file");
	UNIT_INT(elf_read("/no/such/file", &info, &err), ERROR_NOT_FOUND);
	UNIT_INT(elf_read("/dev/null", &info, &err), ERROR_FORMAT);
	UNIT_INT(elf_read("/usr", &info, &err), ERROR_FORMAT);
	elf_make(&(struct elf_recipe){.bits = 64, .machine = EM_X86_64}, &file);
	file.data[EI_DATA] = ELFDATA2MSB;
	UNIT_INT(elf_read_bytes(file.data, file.size, &info, &err), ERROR_UNSUPPORTED);
}

/* A node of made files below a temporary directory. */
static char *node_new(void)
{
	char *root = NULL;
	UNIT_INT(file_make_temporary("/tmp", "gpucert-test-", &root, NULL), 0);
	return root;
}

static void node_write(const char *root, const char *path, const char *data, size_t size)
{
	char *full CLEANUP_FREE = path_join(root, path);
	char *directory CLEANUP_FREE = path_directory(full);
	UNIT_INT(file_make_directories(directory, 0755, NULL), 0);
	UNIT_INT(file_write_atomic(full, data, size, 0755, NULL), 0);
}

static void node_elf(const char *root, const char *path, const struct elf_recipe *recipe)
{
	struct text file CLEANUP_TEXT = {0};
	elf_make(recipe, &file);
	node_write(root, path, file.data, file.size);
}

static void node_link(const char *root, const char *path, const char *target)
{
	char *full CLEANUP_FREE = path_join(root, path);
	char *directory CLEANUP_FREE = path_directory(full);
	UNIT_INT(file_make_directories(directory, 0755, NULL), 0);
	UNIT_INT(symlink(target, full), 0);
}

#define NODE_ELF(root, path, ...)                                                                  \
	node_elf(root, path, &(struct elf_recipe){.bits = 64, .machine = EM_X86_64, __VA_ARGS__})

/* "destination < source", one a line, then "missing: name by destination". */
static char *closure_string(const struct elf_closure *closure, const char *root)
{
	struct text text = {0};
	for (size_t i = 0; i < closure->file_count; i++) {
		CU_ASSERT_TRUE(text_starts_with(closure->files[i].source, root));
		text_addf(&text, "%s < %s\n", closure->files[i].destination,
			  closure->files[i].source + strlen(root));
	}
	for (size_t i = 0; i < closure->missing_count; i++)
		text_addf(&text, "missing: %s by %s\n", closure->missing[i].name,
			  closure->missing[i].needed_by);
	return text_take(&text);
}

static void expect_closure(const char *root, const char *path, const char *wanted)
{
	struct error err = {0};
	struct elf_closure *closure CLEANUP_CLOSURE = NULL;
	char *seen CLEANUP_FREE = NULL;
	UNIT_INT(elf_closure_new(root, &closure, &err), 0);
	UNIT_NEED(closure != NULL);
	UNIT_INT(elf_closure_add(closure, path, &err), 0);
	seen = closure_string(closure, root);
	UNIT_STRING(seen, wanted);
}

static void test_closure_follows_configuration(void)
{
	char *root CLEANUP_FREE = node_new();
	static const char configuration[] = "# a comment\ninclude ld.so.conf.d/*.conf\n/opt/last\n";
	static const char included[] = "/opt/vendor/lib/  # vendor\n";
	node_write(root, "/etc/ld.so.conf", configuration, sizeof(configuration) - 1);
	node_write(root, "/etc/ld.so.conf.d/a.conf", included, sizeof(included) - 1);
	node_write(root, "/etc/ld.so.conf.d/b.other", "/opt/ignored\n", 13);
	NODE_ELF(root, "/usr/bin/tool", .interpreter = "/lib64/ld.so.2",
		 .needed = {"libvendor.so.1", "liblast.so", "libgone.so.3", "libignored.so"});
	NODE_ELF(root, "/usr/lib/ld-real.so", .soname = "ld.so.2");
	node_link(root, "/lib64/ld.so.2", "/usr/lib/ld-real.so");
	NODE_ELF(root, "/opt/vendor/lib/libvendor.so.1.2", .soname = "libvendor.so.1",
		 .needed = {"ld.so.2", "libgone.so.3", "libdefault.so"});
	node_link(root, "/opt/vendor/lib/libvendor.so.1", "libvendor.so.1.2");
	NODE_ELF(root, "/opt/last/liblast.so", .soname = NULL);
	NODE_ELF(root, "/opt/ignored/libignored.so", .soname = NULL);
	NODE_ELF(root, "/usr/lib/x86_64-linux-gnu/libdefault.so", .soname = NULL);
	expect_closure(root, "/usr/bin/tool",
		       "/usr/bin/tool < /usr/bin/tool\n"
		       "/lib64/ld.so.2 < /usr/lib/ld-real.so\n"
		       "/opt/vendor/lib/libvendor.so.1 < /opt/vendor/lib/libvendor.so.1.2\n"
		       "/opt/last/liblast.so < /opt/last/liblast.so\n"
		       "/usr/lib/x86_64-linux-gnu/libdefault.so < "
		       "/usr/lib/x86_64-linux-gnu/libdefault.so\n"
		       "missing: libgone.so.3 by /usr/bin/tool\n"
		       "missing: libignored.so by /usr/bin/tool\n");
	UNIT_INT(file_remove_tree(root, NULL), 0);
}

static void test_closure_skips_other_machines(void)
{
	char *root CLEANUP_FREE = node_new();
	node_elf(root, "/lib/x86_64-linux-gnu/libx.so",
		 &(struct elf_recipe){.bits = 32, .machine = EM_386});
	node_write(root, "/usr/lib/x86_64-linux-gnu/libx.so", "GROUP ( libx.a )", 16);
	NODE_ELF(root, "/lib64/libx.so", .soname = NULL);
	NODE_ELF(root, "/plugin.so", .needed = {"libx.so"});
	expect_closure(root, "/plugin.so",
		       "/plugin.so < /plugin.so\n/lib64/libx.so < /lib64/libx.so\n");
	UNIT_INT(file_remove_tree(root, NULL), 0);
}

static void test_closure_rpath_and_runpath(void)
{
	char *root CLEANUP_FREE = node_new();
	/* RPATH is inherited by what it led to; RUNPATH is not, and turns RPATH off. */
	NODE_ELF(root, "/app/bin/real", .interpreter = "/lib64/ld.so.2",
		 .rpath = "$ORIGIN/../lib:/nowhere", .needed = {"liba.so", "libr.so"});
	node_link(root, "/usr/bin/app", "/app/bin/real");
	NODE_ELF(root, "/lib64/ld.so.2", .soname = "ld.so.2");
	NODE_ELF(root, "/app/lib/liba.so", .needed = {"libb.so"});
	NODE_ELF(root, "/app/lib/libb.so", .soname = NULL);
	NODE_ELF(root, "/app/lib/libr.so", .runpath = "${ORIGIN}/private",
		 .needed = {"libc1.so", "libd.so"});
	NODE_ELF(root, "/app/lib/private/libc1.so", .needed = {"libe.so"});
	NODE_ELF(root, "/app/lib/libd.so", .soname = NULL);
	NODE_ELF(root, "/app/lib/private/libe.so", .soname = NULL);
	expect_closure(root, "/usr/bin/app",
		       "/usr/bin/app < /app/bin/real\n"
		       "/lib64/ld.so.2 < /lib64/ld.so.2\n"
		       "/app/lib/liba.so < /app/lib/liba.so\n"
		       "/app/lib/libr.so < /app/lib/libr.so\n"
		       "/app/lib/libb.so < /app/lib/libb.so\n"
		       "/app/lib/private/libc1.so < /app/lib/private/libc1.so\n"
		       "missing: libd.so by /app/lib/libr.so\n"
		       "missing: libe.so by /app/lib/private/libc1.so\n");
	UNIT_INT(file_remove_tree(root, NULL), 0);
}

static void test_closure_circles_and_aliases(void)
{
	char *root CLEANUP_FREE = node_new();
	NODE_ELF(root, "/lib/liba.so", .needed = {"libb.so.1", "libb.so"});
	NODE_ELF(root, "/lib/libb.so.1", .soname = NULL,
		 .needed = {"liba.so", "/lib/libp.so", "liba.so"});
	node_link(root, "/lib/libb.so", "libb.so.1");
	NODE_ELF(root, "/lib/libp.so", .no_default_directories = true, .needed = {"libq.so"});
	NODE_ELF(root, "/lib/libq.so", .soname = NULL);
	expect_closure(root, "/lib/liba.so",
		       "/lib/liba.so < /lib/liba.so\n"
		       "/lib/libb.so.1 < /lib/libb.so.1\n"
		       "/lib/libb.so < /lib/libb.so.1\n"
		       "/lib/libp.so < /lib/libp.so\n"
		       "missing: libq.so by /lib/libp.so\n");
	UNIT_INT(file_remove_tree(root, NULL), 0);
}

static void test_closure_errors(void)
{
	struct elf_closure *closure CLEANUP_CLOSURE = NULL;
	struct error err = {0};
	UNIT_INT(elf_closure_new(NULL, &closure, NULL), 0);
	UNIT_NEED(closure != NULL);
	UNIT_INT(elf_closure_add(closure, "/no/such/file", &err), ERROR_NOT_FOUND);
	UNIT_INT(elf_closure_add(closure, "/etc/passwd", &err), ERROR_FORMAT);
	UNIT_INT(elf_closure_add(closure, "/etc/passwd", &err), ERROR_FORMAT);
	UNIT_INT(elf_closure_add(closure, "relative", &err), ERROR_FORMAT);
	UNIT_INT(closure->file_count, 0);
}

/* The destinations that ldd tells: "NAME => PATH (ADDRESS)" and "PATH (ADDRESS)". */
static bool ldd_paths(const char *program, struct text_list *paths)
{
	const char *const argv[] = {"ldd", program, NULL};
	struct process_result result CLEANUP(process_result_free) = {0};
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	if (process_run(&(struct process_spec){.argv = argv}, &result, NULL) < 0)
		return false;
	text_list_split(&lines, text_string(&result.out), '\n');
	for (size_t i = 0; i < lines.count; i++) {
		char *slash = strchr(lines.items[i], '/');
		if (slash == NULL)
			continue; /* the kernel's own object */
		slash[strcspn(slash, " ")] = '\0';
		text_list_add(paths, slash);
	}
	return true;
}

static void compare_with_ldd(const char *program)
{
	struct elf_closure *closure CLEANUP_CLOSURE = NULL;
	struct text_list wanted CLEANUP_TEXT_LIST = {0};
	struct text_list seen CLEANUP_TEXT_LIST = {0};
	UNIT_INT(elf_closure_new(NULL, &closure, NULL), 0);
	UNIT_NEED(closure != NULL);
	if (!ldd_paths(program, &wanted))
		return;
	UNIT_INT(elf_closure_add(closure, program, NULL), 0);
	UNIT_INT(closure->missing_count, 0);
	/* ldd does not name the program itself. */
	for (size_t i = 1; i < closure->file_count; i++)
		text_list_add(&seen, closure->files[i].destination);
	CU_ASSERT_TRUE(wanted.count > 1);
	UNIT_INT(seen.count, wanted.count);
	for (size_t i = 0; i < wanted.count; i++) {
		if (!text_list_has(&seen, wanted.items[i]))
			(void)printf("\nldd has %s\n", wanted.items[i]);
		CU_ASSERT_TRUE(text_list_has(&seen, wanted.items[i]));
	}
}

static void test_same_as_ldd(void)
{
	char *self CLEANUP_FREE = NULL;
	compare_with_ldd("/bin/ls");
	UNIT_INT(path_of_program(&self, NULL), 0);
	compare_with_ldd(self);
}

UNIT_MAIN("elf", {"both word sizes", test_read_both_word_sizes},
	  {"broken files", test_broken_files}, {"errors", test_errors},
	  {"closure follows the configuration", test_closure_follows_configuration},
	  {"closure skips other machines", test_closure_skips_other_machines},
	  {"closure: RPATH and RUNPATH", test_closure_rpath_and_runpath},
	  {"closure: circles and aliases", test_closure_circles_and_aliases},
	  {"closure: errors", test_closure_errors}, {"same as ldd", test_same_as_ldd})
