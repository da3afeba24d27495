/* SPDX-License-Identifier: MIT */
#include "containers/runtime/containerd.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "containers/cri/cri.h"
#include "containers/images/images.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>

enum { VERSION_TIMEOUT_MS = 20000, VERSION_WORD = 2 };

int containerd_parse_version(const char *output, char **out, struct error *err)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	const char *word = NULL;
	int rc = text_list_split(&words, output, ' ', err);
	if (rc < 0)
		return rc;
	if (words.count > VERSION_WORD && strcmp(words.items[0], "containerd") == 0)
		word = words.items[VERSION_WORD] + (words.items[VERSION_WORD][0] == 'v');
	if (word == NULL || !cri_version_at_least(word, 0, 0))
		return error_set(err, ERROR_FORMAT, "not the version of a containerd");
	*out = strndup(word, strcspn(word, "\r\n"));
	return *out != NULL ? 0 : error_memory(err);
}

int containerd_probe_version(const char *program, char **out, struct error *err)
{
	const char *const argv[] = {program, "--version", NULL};
	const struct process_spec spec = {.argv = argv, .timeout_ms = VERSION_TIMEOUT_MS};
	struct process_result result = {0};
	char end[128] = "";
	int rc = process_run(&spec, &result, err);
	if (rc < 0)
		return rc;
	process_describe(&result, end, sizeof(end));
	if (result.end != PROCESS_EXITED || result.code != 0)
		rc = error_set(err, ERROR_IO, "%s --version: %s", program, end);
	else if ((rc = containerd_parse_version(text_string(&result.out), out, err)) < 0)
		error_wrap(err, rc, "%s --version", program);
	process_result_free(&result);
	return rc;
}

static int try_overlay(const char *directory, char **reason, struct error *err)
{
	static const char *const names[] = {"lower", "upper", "work", "merged"};
	char *merged CLEANUP_FREE = path_join(directory, "merged");
	char *data CLEANUP_FREE = text_format("lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work",
					      directory, directory, directory);
	if (merged == NULL || data == NULL)
		return error_memory(err);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *path CLEANUP_FREE = path_join(directory, names[i]);
		int rc = path != NULL ? file_make_directories(path, 0700, err) : error_memory(err);
		if (rc < 0)
			return rc;
	}
	if (mount("overlay", merged, "overlay", 0, data) == 0) {
		(void)umount2(merged, MNT_DETACH);
		return 0;
	}
	*reason = text_format("overlay cannot be mounted: %s", strerror(errno));
	return *reason != NULL ? 0 : error_memory(err);
}

int containerd_choose_snapshotter(const char *directory, const char **snapshotter, char **reason,
				  struct error *err)
{
	char *trial CLEANUP_FREE = path_join(directory, "overlay-trial");
	int rc = trial != NULL ? try_overlay(trial, reason, err) : error_memory(err);
	if (rc < 0)
		return rc;
	*snapshotter = *reason == NULL ? "overlayfs" : "native";
	return file_remove_tree(trial, err);
}

/* Snapshotters that probe for programs and file systems, and plugins that work outside the run's
 * directory: /opt/containerd, the node resource interface's socket, restart monitoring. */
static const char disabled_plugins[] = "disabled_plugins = [\n"
				       "\t\"io.containerd.snapshotter.v1.aufs\",\n"
				       "\t\"io.containerd.snapshotter.v1.blockfile\",\n"
				       "\t\"io.containerd.snapshotter.v1.btrfs\",\n"
				       "\t\"io.containerd.snapshotter.v1.devmapper\",\n"
				       "\t\"io.containerd.snapshotter.v1.zfs\",\n"
				       "\t\"io.containerd.internal.v1.opt\",\n"
				       "\t\"io.containerd.internal.v1.restart\",\n"
				       "\t\"io.containerd.internal.v1.tracing\",\n"
				       "\t\"io.containerd.tracing.processor.v1.otlp\",\n"
				       "\t\"io.containerd.nri.v1.nri\",\n"
				       "]\n";

#define CRI_PLUGIN "plugins.\"io.containerd.grpc.v1.cri\""

/* The directory's path holds no characters that TOML would need escaped: it comes from
 * run_directory_make(), which has checked the base directory. */
void containerd_config(const struct containerd_config *config, struct text *out)
{
	const char *directory = config->directory;
	text_addf(out, "version = 2\nroot = \"%s/root\"\nstate = \"%s/state\"\noom_score = 0\n",
		  directory, directory);
	text_add(out, disabled_plugins);
	text_addf(out, "\n[grpc]\naddress = \"%s/containerd.sock\"\n", directory);
	text_add(out, "\n[debug]\nlevel = \"warn\"\n");
	/* Without CAP_SYS_RESOURCE a score below our own cannot be set, and no sandbox would start.
	 */
	text_add(out, "\n[" CRI_PLUGIN "]\nsandbox_image = \"" IMAGES_PAUSE_REFERENCE "\"\n"
		      "restrict_oom_score_adj = true\n"
		      "stream_server_address = \"127.0.0.1\"\nstream_server_port = \"0\"\n");
	if (cri_version_at_least(config->version, 1, 7))
		text_add(out, "enable_cdi = true\n");
	/* Sandboxes use the host's network; the machine's CNI configuration is not to be looked at.
	 */
	text_addf(out,
		  "\n[" CRI_PLUGIN ".cni]\nbin_dir = \"%s/cni/bin\"\nconf_dir = \"%s/cni/net.d\"\n",
		  directory, directory);
	text_addf(out,
		  "\n[" CRI_PLUGIN ".containerd]\nsnapshotter = \"%s\"\n"
		  "default_runtime_name = \"runc\"\n",
		  config->snapshotter);
	text_add(out, "\n[" CRI_PLUGIN ".containerd.runtimes.runc]\n"
		      "runtime_type = \"io.containerd.runc.v2\"\n");
	text_addf(out,
		  "\n[" CRI_PLUGIN ".containerd.runtimes.runc.options]\n"
		  "Root = \"%s/runc\"\nSystemdCgroup = false\n",
		  directory);
}
