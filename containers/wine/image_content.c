/* SPDX-License-Identifier: MIT */
/* The files of the root that the image of Windows programs needs. */
#include "base/cleanup.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/gpu_apis.h"
#include "base/path.h"
#include "containers/images/tree.h"
#include "containers/wine/image.h"
#include "containers/wine/node.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARIES   "/usr/lib/x86_64-linux-gnu"
#define WINE_UNIX   LIBRARIES "/wine/x86_64-unix"
#define WINE_DLLS   LIBRARIES "/wine/x86_64-windows"
#define XKB	    "/usr/share/X11/xkb"
#define WINE_INF    "/usr/share/wine/wine.inf"
#define NLS	    "/usr/share/wine/nls"
#define WINDOWS	    WINE_IMAGE_PREFIX "/drive_c/windows"
#define PLUGINS	    LIBRARIES "/gstreamer-1.0"
#define PLUGIN_LIST "/var/lib/gpucert/gstreamer.bin"
#define SYSTEM_DLLS WINDOWS "/system32"

enum { DEPTH_MAX = 16, LINK_MAX = 1024 };

struct wine_content {
	const char *root;
	struct image_tree *tree;
	struct text_list unused; /* patterns of DLLs */
	struct error *err;
};

/* ELF programs and libraries: the libraries that they need are added. */
static const char *const elf_files[] = {
	"/usr/bin/bash",
	"/usr/bin/sleep",
	"/usr/bin/timeout",
	"/usr/bin/Xvfb",
	"/usr/bin/xkbcomp",
	"/usr/local/lib/keep-signals.so",
	"/usr/lib/wine/wine64",
	"/usr/lib/wine/wineserver64",
	WINE_UNIX "/bcrypt.so",
	WINE_UNIX "/crypt32.so",
	WINE_UNIX "/dnsapi.so",
	WINE_UNIX "/dwrite.so",
	WINE_UNIX "/mountmgr.so",
	WINE_UNIX "/msv1_0.so",
	WINE_UNIX "/nsiproxy.so",
	WINE_UNIX "/ntdll.so",
	WINE_UNIX "/opencl.so",
	WINE_UNIX "/opengl32.so",
	WINE_UNIX "/secur32.so",
	WINE_UNIX "/win32u.so",
	WINE_UNIX "/winegstreamer.so",
	WINE_UNIX "/winevulkan.so",
	WINE_UNIX "/winex11.so",
	WINE_UNIX "/ws2_32.so",
	/* Media Foundation's encoder of H.264, which Windows also has in software. */
	PLUGINS "/libgstcoreelements.so",
	PLUGINS "/libgstvideoconvertscale.so",
	PLUGINS "/libgstx264.so",
};

/* Libraries that these open at run time. Drivers are not among them. */
static const char *const loaded_libraries[] = {
	"libEGL.so.1",	   "libGL.so.1",	 "libGLX.so.0",	       "libOpenCL.so.1",
	"libX11.so.6",	   "libXcomposite.so.1", "libXcursor.so.1",    "libXext.so.6",
	"libXfixes.so.3",  "libXi.so.6",	 "libXinerama.so.1",   "libXrandr.so.2",
	"libXrender.so.1", "libXxf86vm.so.1",	 "libfontconfig.so.1", "libfreetype.so.6",
	"libgcc_s.so.1",   "libgnutls.so.30",	 "libvulkan.so.1",     NULL,
};

/* Patterns of Wine's DLLs that no probe needs and that are large or many. */
static const char unused_dlls[] =
	"*.acm *.ax *.cpl *.ds *.msstyles *.tlb avi* cards* d3dcompiler_3* "
	"d3dcompiler_40.dll d3dcompiler_41.dll d3dcompiler_42.dll d3dx10* d3dx11* d3dx9* "
	"d3drm* d3d10_* d3d8* ddraw* dinput* dmusic* dmime* dplay* ieframe* iexplore* "
	"inetcpl* jscript* mf.dll mf3216* mfasf* mfc* mfmedia* mfmp4* mfplay* mfread* mfsrc* "
	"mmdevapi* msado* mshtml* msi.dll msvcp60.dll msvc?7* msvc?8* msvc?9* msvc?10* msvc?110* "
	"msvc?120* msxml* notepad* oleview* qasf* qcap* qedit* quartz* regedit* riched* sane* "
	"taskmgr* twain* vbscript* wine3d* winebth* winecfg* winedbg* winedmo* winefile* winemine* "
	"wineps* wineusb* wmp* wmvcore* wordpad* wpcap* x3daudio* xactengine* xapofx* xaudio* "
	"xinput*";

static int add(const struct wine_content *content, enum image_entry_type type, const char *path,
	       const char *what, unsigned mode)
{
	return image_tree_add(content->tree, type, path, what, mode, content->err);
}

static int add_tree(const struct wine_content *content, const char *path, unsigned depth);

/* One entry of the root. In the prefix, a DLL that is Wine's own becomes a link to the only copy.
 */
static int add_entry(const struct wine_content *content, const char *path, const char *name,
		     unsigned depth)
{
	char *entry CLEANUP_FREE = path_join(path, name);
	char *local CLEANUP_FREE = path_join(content->root, entry);
	char *original CLEANUP_FREE = path_join(WINE_DLLS, name);
	char target[LINK_MAX] = "";
	struct stat status = {0};
	if (lstat(local, &status) < 0)
		return error_set(content->err, ERROR_NOT_FOUND, "%s does not exist", local);
	if (S_ISDIR(status.st_mode))
		return add_tree(content, entry, depth + 1);
	if (S_ISLNK(status.st_mode)) {
		if (readlink(local, target, sizeof(target) - 1) < 0)
			return error_set(content->err, ERROR_IO, "%s: link cannot be read", local);
		return add(content, IMAGE_LINK, entry, target, 0777);
	}
	if (!S_ISREG(status.st_mode))
		return 0;
	if ((strcmp(path, SYSTEM_DLLS) == 0 || strcmp(path, WINDOWS) == 0) &&
	    image_tree_has(content->tree, original))
		return add(content, IMAGE_LINK, entry, original, 0777);
	return add(content, IMAGE_FILE, entry, local, status.st_mode & 0777U);
}

/* Files of the prefix and of Wine's folder that the image does not need. */
static bool is_left_out(const struct wine_content *content, const char *path, const char *name)
{
	const bool is_system = strcmp(path, SYSTEM_DLLS) == 0;
	/* A loader that comes with a driver on Windows: a bare container has none. Wine's own folder keeps it, because
	 * it takes the Unix half of a DLL from there. */
	for (const struct gpu_api *api = gpu_apis; is_system && api->name != NULL; api++) {
		if (api->driver_dll != NULL && strcasecmp(api->driver_dll, name) == 0)
			return true;
	}
	if (is_system || strcmp(path, WINE_DLLS) == 0) {
		text_each (pattern, &content->unused) {
			if (text_glob(pattern, name))
				return true;
		}
		return false;
	}
	if (strcmp(path, WINDOWS) == 0 && strcmp(name, "explorer.exe") == 0)
		return false;
	return strcmp(name, "winsxs") == 0 || strcmp(name, "Accessories") == 0 ||
	       strcmp(name, "themes") == 0 || strcmp(name, "Internet Explorer") == 0 ||
	       text_ends_with(name, ".exe");
}

static int add_tree(const struct wine_content *content, const char *path, unsigned depth)
{
	char *local CLEANUP_FREE = path_join(content->root, path);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (depth > DEPTH_MAX)
		return error_set(content->err, ERROR_LIMIT, "%s: nested too deeply", local);
	int rc = add(content, IMAGE_DIRECTORY, path, "", 0755);
	if (rc == 0)
		rc = file_list(local, &names, content->err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		if (!is_left_out(content, path, names.items[i]))
			rc = add_entry(content, path, names.items[i], depth);
	}
	return rc;
}

static const char *const trees[] = {WINE_DLLS, NLS, XKB, WINE_IMAGE_PREFIX};

static const struct image_entry fixed[] = {
	/* Wine updates a prefix whose stamp is not the time of wine.inf, and times of images are 0. The first entry of a
	 * path stays, so this replaces the prefix's own stamp. */
	{IMAGE_TEXT, WINE_IMAGE_PREFIX "/.update-timestamp", "disable\n", 0644},
	{IMAGE_LINK, "/usr/bin/sh", "bash", 0777},
	{IMAGE_LINK, "/usr/lib/wine/wineserver", "wineserver64", 0777},
	{IMAGE_DIRECTORY, "/tmp/.X11-unix", "", 01777},
	{IMAGE_TEXT, "/etc/fonts/fonts.conf",
	 "<fontconfig><cachedir>/tmp</cachedir></fontconfig>\n", 0644},
};

/* A file of the root in the same place. */
static int add_same(const struct wine_content *content, const char *path)
{
	char *local CLEANUP_FREE = path_join(content->root, path);
	return add(content, IMAGE_FILE, path, local, 0644);
}

int wine_image_content(const struct image_spec *spec, struct image_tree *tree, struct error *err)
{
	const struct wine_image_options *options = spec->user;
	struct elf_closure *closure CLEANUP(elf_closure_cleanup) = NULL;
	struct wine_content content = {.root = options->root, .tree = tree, .err = err};
	struct text_list dlls CLEANUP_TEXT_LIST = {0};
	int rc = elf_closure_new(options->root, &closure, err);
	if (rc < 0)
		return rc;
	text_list_split(&content.unused, unused_dlls, ' ');
	rc = image_tree_base(tree, err);

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(elf_files); i++)
		rc = elf_closure_add(closure, elf_files[i], err);
	if (rc == 0)
		rc = image_add_loaded(closure, loaded_libraries, err);
	for (size_t i = 0; rc == 0 && i < closure->file_count; i++)
		rc = add(&content, IMAGE_FILE, closure->files[i].destination,
			 closure->files[i].source, 0755);

	if (rc == 0)
		rc = image_tree_add_all(tree, fixed, ARRAY_SIZE(fixed), err);
	/* Replaces Wine's own DLL of that name, or goes into System32: the first entry of a path wins. */
	if (rc == 0)
		rc = wine_dlls_list(options->dlls, &dlls, err);
	for (size_t i = 0; rc == 0 && i < dlls.count; i++) {
		const char *name = path_base(dlls.items[i]);
		char *own CLEANUP_FREE = text_format("%s" WINE_DLLS "/%s", content.root, name);
		char *path CLEANUP_FREE =
			path_join(file_exists(own) ? WINE_DLLS : SYSTEM_DLLS, name);
		rc = add(&content, IMAGE_FILE, path, dlls.items[i], 0644);
	}
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(trees); i++)
		rc = add_tree(&content, trees[i], 0);
	if (rc == 0)
		rc = add_same(&content, WINE_INF);
	if (rc == 0)
		rc = add_same(&content, PLUGIN_LIST);
	if (rc == 0)
		rc = add(&content, IMAGE_FILE, WINE_IMAGE_STARTER, options->starter, 0755);
	for (size_t i = 0; rc == 0 && options->programs[i] != NULL; i++) {
		char *path CLEANUP_FREE =
			path_join(IMAGES_PROGRAM_DIRECTORY, path_base(options->programs[i]));
		rc = add(&content, IMAGE_FILE, path, options->programs[i], 0755);
	}
	text_list_free(&content.unused);
	return rc;
}
