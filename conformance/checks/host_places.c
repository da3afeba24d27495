/* SPDX-License-Identifier: MIT */
#include "conformance/checks/host_places.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "conformance/checks/node_file.h"
#include "conformance/kubelet/each.h"

#include <string.h>

enum { PRIVATE_ENTRIES_MAX = 20000 };

/* Which mounts expose the node: of the place itself, and of paths below it. */
enum reach {
	HOST_ROOT,    /* itself only */
	HOST_OPEN,    /* itself; below it lies the data of drivers and plugins */
	HOST_PUBLIC,  /* whatever is writable */
	HOST_KERNEL,  /* itself, and whatever is writable below it */
	HOST_GUARDED, /* the same, and files that not every user may read */
	HOST_CLOSED,  /* everything */
	HOST_EXEMPT,  /* nothing */
};

static const struct {
	enum reach reach;
	const char *folder;
	const char *names; /* in the folder, with blanks between them; NULL: the folder itself */
} rules[] = {
	{HOST_ROOT, "/", NULL},
	{HOST_OPEN, "/",
	 "run tmp var/lib var/tmp var/local var/opt var/cache mnt media srv "
	 "opt dev/shm"},
	{HOST_PUBLIC, "/", "usr bin sbin lib lib32 lib64 libx32"},
	{HOST_PUBLIC, "/opt", "bin cni containerd"},
	{HOST_PUBLIC, "/usr/local", "bin etc games include lib lib64 libexec man sbin share src"},
	{HOST_GUARDED, "/", "etc var home boot"},
	{HOST_GUARDED, "/var/cache", "apt debconf dnf ldconfig man yum"},
	{HOST_GUARDED, "/var/lib",
	 "NetworkManager alternatives apparmor apt cloud dbus dhcp dnf dpkg "
	 "initramfs-tools misc pacman pam polkit-1 portables private rpm "
	 "selinux snapd sshd systemd ucf update-notifier"},
	{HOST_GUARDED, "/run",
	 "NetworkManager blkid initramfs ld.so.conf.d lock log lvm mount "
	 "netns network sshd tmpfiles.d udev utmp xtables.lock"},
	{HOST_KERNEL, "/", "dev"},
	{HOST_PUBLIC, "/", "sys"},
	{HOST_CLOSED, "/sys",
	 "firmware/efi/efivars fs/bpf fs/cgroup fs/pstore fs/selinux "
	 "kernel/config kernel/debug kernel/security kernel/tracing"},
	{HOST_CLOSED, "/", "proc root dev/mqueue dev/pts"},
	/* Reports of drivers; folders of vendors. */
	{HOST_EXEMPT, "/", "proc/driver usr/local"},
	{HOST_CLOSED, "/etc",
	 "gshadow kubernetes rancher shadow ssh ssl/private sudoers "
	 "sudoers.d"},
	{HOST_CLOSED, "/run",
	 "buildkit calico cilium containerd containers credentials "
	 "cri-dockerd.sock crio dbus docker docker.sock flannel gpucert k0s "
	 "k3s libvirt podman secrets snapd.sock sudo systemd user"},
	{HOST_CLOSED, "/var/lib",
	 "cni containerd containers docker etcd k0s kubelet libvirt rancher"},
	{HOST_CLOSED, "/tmp", ".ICE-unix .X11-unix"},
};

/* File systems of the kernel, and where the node mounts the instance that its places are about: any
 * other instance shows the same without them. */
static const struct {
	const char *type, *home;
} kernel_types[] = {
	{"proc", "/proc"},     {"sysfs", "/sys"},   {"devtmpfs", "/dev"}, {"autofs", NULL},
	{"binfmt_misc", NULL}, {"bpf", NULL},	    {"cgroup", NULL},	  {"cgroup2", NULL},
	{"configfs", NULL},    {"debugfs", NULL},   {"devpts", NULL},	  {"efivarfs", NULL},
	{"fusectl", NULL},     {"hugetlbfs", NULL}, {"mqueue", NULL},	  {"nfsd", NULL},
	{"nsfs", NULL},	       {"pstore", NULL},    {"resctrl", NULL},	  {"rpc_pipefs", NULL},
	{"securityfs", NULL},  {"selinuxfs", NULL}, {"smackfs", NULL},	  {"tracefs", NULL},
};

struct host_place {
	const char *path; /* without links */
	enum reach reach;
	bool exists;
	struct node_file file;
};

struct host_places {
	struct arena arena;
	struct host_place *items;
	size_t count;
};

/* A path without links; a path that does not exist keeps its name. */
static char *real_path(const char *path)
{
	char *resolved CLEANUP_FREE = NULL;
	if (file_resolve(NULL, path, &resolved, NULL) == 0)
		return path_normalize(resolved);
	return path_normalize(path);
}

static void add(struct host_places *places, const char *name, enum reach reach)
{
	char *real CLEANUP_FREE = real_path(name);
	places->items =
		arena_grow(&places->arena, places->items, places->count, sizeof(*places->items));
	struct host_place *place = &places->items[places->count++];
	*place = (struct host_place){.path = arena_string(&places->arena, real), .reach = reach};
	place->exists = node_file_identify(name, &place->file);
}

struct host_places *host_places_new(const struct context *context)
{
	static const char scheme[] = "unix://";
	const char *const closed[] = {context->run_directory, context->attach_directory,
				      text_starts_with(context->cri_address, scheme)
					      ? context->cri_address + strlen(scheme)
					      : NULL};
	struct host_places *places = memory_allocate(1, sizeof(*places));
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct text_list names CLEANUP_TEXT_LIST = {0};
		if (rules[i].names == NULL)
			add(places, rules[i].folder, rules[i].reach);
		else
			text_list_split(&names, rules[i].names, ' ');
		text_each (name, &names) {
			char *path CLEANUP_FREE = path_join(rules[i].folder, name);
			add(places, path, rules[i].reach);
		}
	}
	array_each (folder, closed) {
		if (*folder != NULL)
			add(places, *folder, HOST_CLOSED);
	}
	if (context->out_directory != NULL)
		add(places, context->out_directory, HOST_PUBLIC);
	return places;
}

void host_places_free(struct host_places **places)
{
	if (*places != NULL)
		arena_free(&(*places)->arena);
	free(*places);
	*places = NULL;
}

bool host_places_is_kernel_type(const char *type)
{
	for (size_t i = 0; type != NULL && i < ARRAY_SIZE(kernel_types); i++) {
		if (strcmp(type, kernel_types[i].type) == 0)
			return true;
	}
	return false;
}

/* The place whose own mount this is, by its identity, its name, or as one of those that lie below. */
static const struct host_place *find_whole(const struct host_places *places, const char *real,
					   bool read_only)
{
	struct node_file file = {0};
	bool exists = node_file_identify(real, &file);
	items_each (place, places->items, places->count) {
		if (place->reach == HOST_EXEMPT || (place->reach == HOST_PUBLIC && read_only))
			continue;
		bool same = strcmp(place->path, real) == 0 ||
			    (exists && place->exists && file.device == place->file.device &&
			     file.inode == place->file.inode);
		/* Public folders below another place do not make that place public. Containers have a read-only
		 * /sys anyway; file systems that are mounted below it are mounts of their own, judged by type. */
		bool above = place->reach != HOST_OPEN && path_is_within(place->path, real) &&
			     !(read_only && strcmp(real, "/sys") == 0);
		if (same || above)
			return place;
	}
	return NULL;
}

/* The place that a path below it exposes; NULL: none. */
static const char *given_below(struct host_places *places, const char *real, bool read_only)
{
	/* The most specific place that holds the path: "/" holds every path. */
	const struct host_place *place = &places->items[0];
	for (size_t i = 1; i < places->count; i++) {
		const struct host_place *other = &places->items[i];
		if (path_is_within(real, other->path) && strlen(other->path) >= strlen(place->path))
			place = other;
	}

	struct node_file file = {0};
	char *folder CLEANUP_FREE = NULL;
	char *secret CLEANUP_FREE = NULL;
	switch (place->reach) {
	case HOST_CLOSED:
		return place->path;
	case HOST_OPEN:
		/* Data of others is in a folder; the files and sockets next to it are the
		 * system's. */
		folder = path_directory(real);
		if (node_file_identify(real, &file) && file.kind == NODE_FILE_OTHER &&
		    strcmp(folder, place->path) == 0)
			return place->path;
		return NULL;
	case HOST_GUARDED:
		if (read_only && node_file_find_private(real, PRIVATE_ENTRIES_MAX, &secret))
			return arena_string(&places->arena, secret);
		return read_only ? NULL : place->path;
	case HOST_PUBLIC:
	case HOST_KERNEL:
		return read_only ? NULL : place->path;
	case HOST_ROOT:
	case HOST_EXEMPT:
		break;
	}
	return NULL;
}

const char *host_places_given(struct host_places *places, const char *path, const char *type,
			      bool read_only)
{
	char *real CLEANUP_FREE = real_path(path);

	/* An instance of a kernel file system other than the node's usual one. */
	for (size_t i = 0; type != NULL && i < ARRAY_SIZE(kernel_types); i++) {
		const char *home = kernel_types[i].home;
		if (strcmp(type, kernel_types[i].type) == 0 &&
		    (home == NULL || !path_is_within(real, home))) {
			return arena_format(&places->arena, "the %s file system", type);
		}
	}

	const struct host_place *whole = find_whole(places, real, read_only);
	return whole != NULL ? whole->path : given_below(places, real, read_only);
}
