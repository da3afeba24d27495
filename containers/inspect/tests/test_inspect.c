/* SPDX-License-Identifier: MIT */
/* A process in a mount namespace of its own stands for a container: what is mounted over its files,
 * loaded into it and put among its device nodes is seen from outside. */
#include "containers/inspect/inspect.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIP = 77 };

/* `cat`, which answers once it is loaded whole, and whose libraries are known. */
struct subject {
	pid_t pid;
	int in, out;
	char *directory;
	const char *digests; /* path of a cache */
	struct digest_cache *opened[2];
	struct image_manifest manifest;
};

static void must(bool held)
{
	if (!held)
		_exit(125);
}

static void subject_run(int in, int out, const char *directory, void (*arrange)(const char *),
			const char *const *env)
{
	const char *const words[] = {"cat", NULL};
	char *const *argv = NULL;
	char *const *envp = NULL;
	must(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	if (arrange != NULL)
		arrange(directory);
	must(dup2(in, 0) == 0 && dup2(out, 1) == 1);
	memcpy(&argv, &(const char *const *){words}, sizeof(argv));
	memcpy(&envp, &env, sizeof(envp));
	(void)execve("/bin/cat", argv, envp);
	_exit(125);
}

static struct subject subject_start(void (*arrange)(const char *), const char *const *env)
{
	struct subject subject = {0};
	int to[2] = {-1, -1}, from[2] = {-1, -1};
	char letter = 'x';
	CU_ASSERT_EQUAL_FATAL(pipe2(to, O_CLOEXEC), 0);
	CU_ASSERT_EQUAL_FATAL(pipe2(from, O_CLOEXEC), 0);
	CU_ASSERT_EQUAL_FATAL(file_make_temporary(NULL, "inspect-", &subject.directory, NULL), 0);
	subject.pid = fork();
	if (subject.pid == 0)
		subject_run(to[0], from[1], subject.directory, arrange, env);
	(void)close(to[0]);
	(void)close(from[1]);
	subject.in = to[1];
	subject.out = from[0];
	CU_ASSERT_EQUAL_FATAL(write(subject.in, &letter, 1), 1);
	CU_ASSERT_EQUAL_FATAL(read(subject.out, &letter, 1), 1);
	return subject;
}

static void subject_end(struct subject *subject)
{
	(void)close(subject->in);
	(void)close(subject->out);
	(void)waitpid(subject->pid, NULL, 0);
	CU_ASSERT_EQUAL(file_remove_tree(subject->directory, NULL), 0);
	free(subject->directory);
	for (size_t i = 0; i < ARRAY_SIZE(subject->opened); i++)
		digest_cache_free(&subject->opened[i]);
	image_manifest_free(&subject->manifest);
}

static struct container_view look(struct subject *subject)
{
	struct digest_cache **digests = &subject->opened[subject->opened[0] != NULL];
	struct container_view view = {0};
	struct error err = {0};
	if (subject->digests != NULL)
		CU_ASSERT_EQUAL_FATAL(digest_cache_open(subject->digests, digests, NULL), 0);
	if (container_inspect(subject->pid, *digests, &view, &err) < 0)
		(void)fprintf(stderr, "%s\n", err.text);
	CU_ASSERT_EQUAL_FATAL(view.pid, subject->pid);
	return view;
}

/* The files that an innocent process has mapped, as the image that it came from. */
static void learn(struct subject *subject)
{
	struct container_view view CLEANUP_CONTAINER_VIEW = look(subject);
	subject->manifest.complete = true;
	for (size_t i = 0; i < view.file_count; i++)
		CU_ASSERT_EQUAL_FATAL(image_manifest_add(&subject->manifest, view.files[i].path,
							 view.files[i].path, NULL),
				      0);
}

/* The host's files as the layer of an image. */
static void arrange_container(const char *directory)
{
	char *own = path_join(directory, "own");
	char *root = path_join(own, "root");
	must(mkdir(own, 0700) == 0 && mount("tmpfs", own, "tmpfs", 0, NULL) == 0);
	char *upper = path_join(own, "upper");
	char *work = path_join(own, "work");
	char *options = text_format("lowerdir=/,upperdir=%s,workdir=%s", upper, work);
	must(mkdir(root, 0700) == 0 && mkdir(upper, 0700) == 0 && mkdir(work, 0700) == 0);
	must(mount("overlay", root, "overlay", 0, options) == 0 && chroot(root) == 0);
}

/* A mount of the same file in another place, and a file that the container changed. */
static void arrange_changed_container(const char *directory)
{
	arrange_container(directory);
	must(mount("/bin/cat", "/bin/ls", NULL, MS_BIND, NULL) == 0);
	must(chmod("/bin/true", 0700) == 0);
}

static void test_an_innocent_process(void)
{
	static const char *const env[] = {"ONE=1", "EMPTY=", NULL};
	struct subject subject = subject_start(NULL, env);
	struct container_view view CLEANUP_CONTAINER_VIEW = look(&subject);
	struct text_list differences CLEANUP_TEXT_LIST = {0};
	char digest[DIGEST_SIZE] = "";
	learn(&subject);
	CU_ASSERT_EQUAL(digest_file("/bin/cat", digest, NULL, NULL), 0);
	UNIT_STRING(view.exe_digest, digest);
	CU_ASSERT_TRUE(view.file_count >= 3); /* cat, libc, the loader */
	UNIT_INT(view.environment.count, 2);
	CU_ASSERT_TRUE(text_list_has(&view.environment, "ONE=1"));
	CU_ASSERT_TRUE(text_list_has(&view.environment, "EMPTY="));
	CU_ASSERT_NOT_EQUAL(view.capabilities, 0);
	CU_ASSERT_FALSE(view.no_new_privileges);
	CU_ASSERT_PTR_NOT_NULL_FATAL(container_mount_of(&view, "/bin"));
	UNIT_STRING(container_mount_of(&view, "/proc/self")->target, "/proc");
	UNIT_INT(container_compare(&view, &subject.manifest, &differences, NULL), 0);
	UNIT_INT(differences.count, 0);
	subject_end(&subject);
}

static void arrange_other_file(const char *directory)
{
	must(mount("/bin/true", "/bin/ls", NULL, MS_BIND, NULL) == 0);
	(void)directory;
}

static void test_a_file_mounted_over(void)
{
	static const char *const env[] = {NULL};
	struct subject subject = subject_start(arrange_other_file, env);
	struct container_view view CLEANUP_CONTAINER_VIEW = look(&subject);
	struct text_list differences CLEANUP_TEXT_LIST = {0};
	const struct container_mount *mount = NULL;
	learn(&subject);
	CU_ASSERT_EQUAL_FATAL(image_manifest_add(&subject.manifest, "/bin/ls", "/bin/ls", NULL), 0);
	UNIT_INT(container_compare(&view, &subject.manifest, &differences, NULL), 0);
	UNIT_INT(differences.count, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(differences.items);
	CU_ASSERT_PTR_NOT_NULL(strstr(differences.items[0],
				      "/bin/ls: is another file than the image's, on the mount "));
	CU_ASSERT_PTR_NOT_NULL(strstr(differences.items[0], "/bin/true"));
	mount = &view.mounts.items[view.mounts.count - 1];
	CU_ASSERT_FALSE(mount->covered);
	CU_ASSERT_FALSE(mount->shared);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mount->host_path);
	CU_ASSERT_PTR_NOT_NULL(strstr(mount->host_path, "/bin/true"));
	subject_end(&subject);
}

static void see_digest(const struct container_view *view, const char *path, char out[DIGEST_SIZE])
{
	struct container_observation observation = {0};
	UNIT_INT(container_observe(view, path, &observation, NULL), 0);
	CU_ASSERT_TRUE(observation.file);
	memcpy(out, observation.digest, DIGEST_SIZE);
}

/* As if the kept digest of the file were another one, which shows where it is used. */
static void forge(const char *digests, const char *digest)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	bool found = false;
	CU_ASSERT_EQUAL_FATAL(file_read(digests, 1 << 20, &data, &size, NULL), 0);
	for (char *at = data; at != NULL && at < data + size;) {
		at = memmem(at, size - (size_t)(at - data), digest, DIGEST_SIZE - 1);
		found = found || at != NULL;
		if (at != NULL)
			memset(at + strlen("sha256:"), '0', 64);
	}
	CU_ASSERT_TRUE(found);
	CU_ASSERT_EQUAL(file_write_atomic(digests, data, size, 0600, NULL), 0);
}

static const char forged[] =
	"sha256:0000000000000000000000000000000000000000000000000000000000000000";

/* Once in a run, and only while it is surely the image's. */
static void test_a_file_of_the_image_is_read_once(void)
{
	static const char *const env[] = {NULL};
	struct subject subject = subject_start(arrange_container, env);
	struct subject changed = subject_start(arrange_changed_container, env);
	char *digests CLEANUP_FREE = path_join(subject.directory, "digests");
	char cat[DIGEST_SIZE] = "", innocent[DIGEST_SIZE] = "", saw[DIGEST_SIZE] = "";
	CU_ASSERT_EQUAL(digest_file("/bin/cat", cat, NULL, NULL), 0);
	CU_ASSERT_EQUAL(digest_file("/bin/true", innocent, NULL, NULL), 0);
	subject.digests = changed.digests = digests;
	struct container_view first CLEANUP_CONTAINER_VIEW = look(&subject);
	UNIT_STRING(first.exe_digest, cat);
	see_digest(&first, "/bin/true", saw);
	UNIT_STRING(saw, innocent);
	forge(digests, cat);
	forge(digests, innocent);
	struct container_view second CLEANUP_CONTAINER_VIEW = look(&subject);
	UNIT_STRING(second.exe_digest, forged);
	see_digest(&second, "/bin/true", saw);
	UNIT_STRING(saw, forged);
	struct container_view other CLEANUP_CONTAINER_VIEW = look(&changed);
	UNIT_STRING(other.exe_digest, forged);
	see_digest(&other, "/bin/ls", saw);
	UNIT_STRING(saw, cat);
	see_digest(&other, "/bin/true", saw);
	UNIT_STRING(saw, innocent);
	subject_end(&changed);
	subject_end(&subject);
}

static size_t size_of(const char *path)
{
	struct stat status = {0};
	CU_ASSERT_EQUAL(stat(path, &status), 0);
	return (size_t)status.st_size;
}

/* What was changed a moment ago may change once more in the same tick of the clock. */
static void test_a_new_file_is_read_again(void)
{
	static const char *const env[] = {NULL};
	struct subject subject = subject_start(arrange_changed_container, env);
	char *digests CLEANUP_FREE = path_join(subject.directory, "digests");
	char *changed CLEANUP_FREE = text_format("/proc/%d/root/bin/true", subject.pid);
	char innocent[DIGEST_SIZE] = "", saw[DIGEST_SIZE] = "";
	int64_t began = 0;
	size_t known = 0;
	subject.digests = digests;
	struct container_view view CLEANUP_CONTAINER_VIEW = look(&subject);
	CU_ASSERT_EQUAL(digest_file("/bin/true", innocent, NULL, NULL), 0);
	do { /* until the machine was not busy with other things for so long that the file is old */
		began = clock_realtime_ns();
		CU_ASSERT_EQUAL(chmod(changed, 0755), 0);
		known = size_of(digests);
		see_digest(&view, "/bin/true", saw);
	} while (clock_realtime_ns() - began > 2000000000);
	UNIT_STRING(saw, innocent);
	UNIT_INT(size_of(digests), known);
	subject_end(&subject);
}

static void arrange_link(const char *directory)
{
	char *link = path_join(directory, "link");
	char *target = path_join(directory, "target");
	must(mkdir(target, 0700) == 0 && symlink(target, link) == 0);
	must(mount("/etc", target, NULL, MS_BIND, NULL) == 0);
}

static void test_links_in_the_container(void)
{
	static const char *const env[] = {NULL};
	struct subject subject = subject_start(arrange_link, env);
	struct container_view view CLEANUP_CONTAINER_VIEW = look(&subject);
	char *target CLEANUP_FREE = path_join(subject.directory, "target");
	char *link CLEANUP_FREE = path_join(subject.directory, "link");
	char *file CLEANUP_FREE = path_join(link, "passwd");
	char digest[DIGEST_SIZE] = "";
	struct container_observation observation = {0};
	struct container_place place = {0};
	UNIT_INT(container_observe(&view, link, &observation, NULL), 0);
	CU_ASSERT_TRUE(observation.there && !observation.file);
	CU_ASSERT_TRUE(container_host_place("/etc", &place));
	CU_ASSERT_TRUE(place.device == observation.place.device &&
		       place.inode == observation.place.inode);
	CU_ASSERT_PTR_NOT_NULL_FATAL(observation.mount);
	UNIT_STRING(observation.mount->target, target);
	UNIT_INT(container_observe(&view, file, &observation, NULL), 0);
	CU_ASSERT_TRUE(observation.file);
	CU_ASSERT_EQUAL(digest_file("/etc/passwd", digest, NULL, NULL), 0);
	UNIT_STRING(observation.digest, digest);
	UNIT_INT(container_observe(&view, "/nowhere/at/all", &observation, NULL), 0);
	CU_ASSERT_FALSE(observation.there);
	CU_ASSERT_FALSE(container_host_place("/nowhere/at/all", &place));
	subject_end(&subject);
}

static void test_a_loaded_library(void)
{
	static const char *const env[] = {"LD_PRELOAD=libsodium.so.23", NULL};
	struct subject innocent = subject_start(NULL, (const char *const[]){NULL});
	struct subject subject = subject_start(NULL, env);
	struct container_view view CLEANUP_CONTAINER_VIEW = look(&subject);
	struct text_list differences CLEANUP_TEXT_LIST = {0};
	learn(&innocent);
	UNIT_INT(container_compare(&view, &innocent.manifest, &differences, NULL), 0);
	CU_ASSERT_TRUE_FATAL(differences.count >= 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(differences.items[0], "libsodium"));
	CU_ASSERT_PTR_NOT_NULL(strstr(differences.items[0], "loaded into the program"));
	subject_end(&innocent);
	subject_end(&subject);
}

static void test_another_program(void)
{
	static const char *const env[] = {NULL};
	struct subject subject = subject_start(NULL, env);
	struct container_view view CLEANUP_CONTAINER_VIEW = look(&subject);
	struct text_list differences CLEANUP_TEXT_LIST = {0};
	subject.manifest.complete = true;
	CU_ASSERT_EQUAL_FATAL(image_manifest_add(&subject.manifest, "/bin/ls", "/bin/ls", NULL), 0);
	UNIT_INT(container_compare(&view, &subject.manifest, &differences, NULL), 0);
	CU_ASSERT_TRUE_FATAL(differences.count >= 1);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(differences.items[0], "runs, and is not the image's program"));
	/* An image that is known in part may hold it. */
	text_list_free(&differences);
	subject.manifest.complete = false;
	CU_ASSERT_EQUAL_FATAL(image_manifest_add(&subject.manifest, "/nowhere", "/bin/ls", NULL),
			      0);
	UNIT_INT(container_compare(&view, &subject.manifest, &differences, NULL), 0);
	UNIT_INT(differences.count, 0);
	subject_end(&subject);
}

static void arrange_nodes(const char *directory)
{
	char *mounted = path_join(directory, "with space");
	char *folder = path_join(mounted, "folder");
	char *node = path_join(folder, "node");
	char *hidden = path_join(directory, "hidden");
	char *unusable = path_join(hidden, "unusable");
	must(mkdir(mounted, 0700) == 0 && mount("tmpfs", mounted, "tmpfs", 0, NULL) == 0);
	must(mkdir(folder, 0700) == 0);
	must(mknod(node, S_IFCHR | 0640, makedev(226, 130)) == 0);
	must(mkdir(hidden, 0700) == 0 && mount("tmpfs", hidden, "tmpfs", MS_NODEV, NULL) == 0);
	must(mknod(unusable, S_IFCHR | 0640, makedev(226, 131)) == 0);
}

static const struct container_node *find_node(const struct container_view *view, unsigned major,
					      unsigned minor)
{
	for (size_t i = 0; i < view->node_count; i++) {
		if (view->nodes[i].major == major && view->nodes[i].minor == minor)
			return &view->nodes[i];
	}
	return NULL;
}

static void test_device_nodes(void)
{
	static const char *const env[] = {NULL};
	struct subject subject = subject_start(arrange_nodes, env);
	struct container_view view CLEANUP_CONTAINER_VIEW = look(&subject);
	const struct container_node *node = find_node(&view, 226, 130);
	char *wanted CLEANUP_FREE = text_format("%s/with space/folder/node", subject.directory);
	CU_ASSERT_PTR_NOT_NULL(find_node(&view, 1, 3)); /* /dev/null */
	CU_ASSERT_PTR_NULL(find_node(&view, 226, 131));
	CU_ASSERT_PTR_NOT_NULL_FATAL(node);
	UNIT_STRING(node->path, wanted);
	CU_ASSERT_FALSE(node->block);
	subject_end(&subject);
}

static bool can_use(const struct container_view *view, unsigned major, unsigned minor)
{
	for (size_t i = 0; i < view->host_node_count; i++) {
		const struct container_node *node = &view->host_nodes[i];
		if (!node->block && node->major == major && node->minor == minor)
			return node->access == (CONTAINER_READ | CONTAINER_WRITE);
	}
	return false;
}

/* A process without a cgroup of its own may use what this one may. */
static void test_usable_devices(void)
{
	static const char *const env[] = {NULL};
	struct subject subject = subject_start(NULL, env);
	struct container_view view CLEANUP_CONTAINER_VIEW = look(&subject);
	if (view.access_unknown == NULL)
		CU_ASSERT_TRUE(can_use(&view, 1, 3));
	CU_ASSERT_FALSE(can_use(&view, 1, 250));
	subject_end(&subject);
}

static void test_shared_namespaces(void)
{
	static const char *const env[] = {NULL};
	struct subject subject = subject_start(NULL, env);
	struct container_view view CLEANUP_CONTAINER_VIEW = look(&subject);
	CU_ASSERT_FALSE(text_list_has(&view.shared, "mnt"));
	CU_ASSERT_TRUE(text_list_has(&view.shared, "pid"));
	CU_ASSERT_TRUE(text_list_has(&view.shared, "ipc"));
	subject_end(&subject);
}

static void test_nobody_there(void)
{
	struct container_view view = {0};
	struct error err = {0};
	UNIT_INT(container_inspect(0x7fffffff, NULL, &view, &err), ERROR_NOT_FOUND);
}

static void test_mountinfo(void)
{
	static const char text[] =
		"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
		"37 36 0:5 / /a\\040b\\134c ro,nodev,nosuid,noexec shared:7 master:2 - tmpfs a\\134b rw\n"
		"38 36 0:6 / /c rw - proc proc ro\n";
	struct container_mounts list CLEANUP_CONTAINER_MOUNTS = {0};
	UNIT_INT(container_mounts_parse(text, &list, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(list.count, 3);
	const struct container_mount *mounts = list.items;
	UNIT_INT(mounts[0].id, 36);
	UNIT_INT(mounts[0].major, 98);
	UNIT_STRING(mounts[0].root, "/mnt1");
	UNIT_STRING(mounts[0].target, "/mnt2");
	CU_ASSERT_TRUE(!mounts[0].shared && !mounts[0].read_only);
	UNIT_STRING(mounts[1].target, "/a b\\c");
	CU_ASSERT_TRUE(mounts[1].shared && mounts[1].read_only);
	CU_ASSERT_TRUE(mounts[1].nodev);
	CU_ASSERT_TRUE(mounts[2].read_only && !mounts[2].shared);
}

static void test_mountinfo_that_cannot_be_read(void)
{
	static const char *const broken[] = {"36 35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root",
					     "21 1 8:1 / / rw -", "30 21 0:5 /x",
					     "36 35 98 /mnt1 /mnt2 rw - ext3 /dev/root rw", "x"};
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		struct container_mounts mounts CLEANUP_CONTAINER_MOUNTS = {0};
		struct error err = {0};
		UNIT_INT(container_mounts_parse(broken[i], &mounts, &err), ERROR_FORMAT);
		CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "mountinfo line 1"));
	}
}

static void test_manifest(void)
{
	struct image_manifest made CLEANUP_IMAGE_MANIFEST = {0};
	struct image_manifest read CLEANUP_IMAGE_MANIFEST = {0};
	char *directory CLEANUP_FREE = NULL;
	char *path CLEANUP_FREE = NULL;
	CU_ASSERT_EQUAL_FATAL(file_make_temporary(NULL, "manifest-", &directory, NULL), 0);
	path = path_join(directory, "manifest.json");
	UNIT_INT(image_manifest_add(&made, "/libexec/one", "/bin/true", NULL), 0);
	UNIT_INT(image_manifest_add(&made, "/libexec/two", "/bin/cat", NULL), 0);
	UNIT_INT(image_manifest_add(&made, "/libexec/none", "/nowhere", NULL), ERROR_NOT_FOUND);
	UNIT_INT(image_manifest_write(&made, path, NULL), 0);
	UNIT_INT(image_manifest_load(path, &read, NULL), 0);
	UNIT_INT(read.count, 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(image_manifest_find(&read, "/libexec/two"));
	UNIT_STRING(image_manifest_find(&read, "/libexec/two")->digest, made.files[1].digest);
	UNIT_STRING(image_manifest_holds(&read, made.files[0].digest)->path, "/libexec/one");
	CU_ASSERT_PTR_NULL(image_manifest_find(&read, "/libexec/none"));
	CU_ASSERT_EQUAL(file_remove_tree(directory, NULL), 0);
}

static void test_what_drm_reports(void)
{
	struct container_drm drm = {0};
	CU_ASSERT_TRUE(container_drm_parse("pos:\t0\ndrm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n"
					   "drm-engine-gfx:\t48174231 ns\ndrm-engine-dec:\t0 ns\n"
					   "drm-engine-capacity-gfx:\t2\n",
					   &drm));
	UNIT_STRING(drm.driver, "amdgpu");
	UNIT_STRING(drm.pdev, "0000:03:00.0");
	CU_ASSERT_EQUAL(drm.engine_count, 1);
	UNIT_STRING(drm.engines[0], "gfx");
	CU_ASSERT_TRUE(container_drm_parse("drm-driver:\txe\ndrm-cycles-rcs:\t28257900\n", &drm));
	UNIT_STRING(drm.engines[0], "rcs");
	UNIT_STRING(drm.pdev, "");
	CU_ASSERT_FALSE(container_drm_parse("pos:\t0\nflags:\t02\n", &drm));
}

/* This process: what it has open, and the files of its code. */
static void test_a_working_process(void)
{
	struct container_view view CLEANUP_CONTAINER_VIEW = {0};
	struct error err = {0};
	bool null = false, program = false;
	int fd CLEANUP_FD = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	UNIT_INT(container_inspect_working(getpid(), NULL, &view, &err), 0);
	for (size_t i = 0; i < view.opened_count; i++)
		null = null || (view.opened[i].major == 1 && view.opened[i].minor == 3 &&
				!view.opened[i].block);
	for (size_t i = 0; i < view.file_count; i++)
		program = program || strcmp(view.files[i].digest, view.exe_digest) == 0;
	CU_ASSERT_TRUE(null);
	CU_ASSERT_TRUE(program);
	CU_ASSERT_EQUAL(view.node_count, 0);
}

static void add_manifest(struct image_manifest *manifest, const char *path)
{
	UNIT_INT(image_manifest_add(manifest, path, "/bin/true", NULL), 0);
}

/* Files of the root that a manifest does not hold were written by somebody. */
static void test_written_files(void)
{
	struct image_manifest manifest CLEANUP_IMAGE_MANIFEST = {0};
	struct container_view view CLEANUP_CONTAINER_VIEW = {.pid = getpid()};
	struct text_list found CLEANUP_TEXT_LIST = {0};
	struct text_list usual CLEANUP_TEXT_LIST = {0};
	static const char *const files[] = {"/bin/true", "/bin/cat", "/etc/passwd",
					    "/etc/ld.so.cache"};
	add_manifest(&manifest, "/bin/true");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		text_list_add(&view.layer, files[i]);
	UNIT_INT(container_written(&view, &manifest, &found, &usual, NULL), 0);
	CU_ASSERT_EQUAL(found.count + usual.count, 0); /* a base image is not known whole */
	manifest.complete = true;
	UNIT_INT(container_written(&view, &manifest, &found, &usual, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(found.count, 1);
	UNIT_STRING(found.items[0], "/bin/cat");
	CU_ASSERT_EQUAL_FATAL(usual.count, 1);
	UNIT_STRING(usual.items[0], "/etc/ld.so.cache");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"mountinfo", test_mountinfo},
		{"mountinfo that cannot be read", test_mountinfo_that_cannot_be_read},
		{"the manifest", test_manifest},
		{"nobody there", test_nobody_there},
		{"an innocent process", test_an_innocent_process},
		{"a file mounted over", test_a_file_mounted_over},
		{"a file of the image is read once", test_a_file_of_the_image_is_read_once},
		{"a new file is read again", test_a_new_file_is_read_again},
		{"links in the container", test_links_in_the_container},
		{"a loaded library", test_a_loaded_library},
		{"another program", test_another_program},
		{"device nodes", test_device_nodes},
		{"usable devices", test_usable_devices},
		{"shared namespaces", test_shared_namespaces},
		{"what DRM reports", test_what_drm_reports},
		{"a working process", test_a_working_process},
		{"files that somebody wrote into a container", test_written_files},
		CU_TEST_INFO_NULL,
	};
	if (geteuid() != 0) {
		(void)fprintf(stderr, "needs root: mounts and /proc/PID/map_files\n");
		return SKIP;
	}
	return unit_run("inspect", tests);
}
