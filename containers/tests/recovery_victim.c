/* SPDX-License-Identifier: MIT */
/* A run that the recovery test kills: prints each step it has reached and ends with a container
 * that hangs. Arguments: the base directory, and for a run that is attached the runtime's address,
 * an image, and the archive that holds it. */
#include "base/cleanup.h"
#include "containers/images/images.h"
#include "containers/launch/launch.h"
#include "containers/runtime/runtime.h"
#include "containers/tests/rig.h"

#include <stdio.h>
#include <unistd.h>

static void say(const char *step)
{
	(void)printf("%s\n", step);
	(void)fflush(stdout);
}

static int attach(struct rig *rig, char **argv, struct error *err)
{
	const char *const references[] = {argv[3], NULL};
	struct launcher_containerd_options options = {.check_id = "victim", .image = argv[3]};
	int rc = uv_loop_init(&rig->loop);
	if (rc == 0)
		rc = runtime_attach(&rig->loop, argv[2], argv[1], &rig->runtime, err);
	if (rc == 0)
		rc = runtime_import(rig->runtime, argv[4], references, err);
	if (rc < 0)
		return rc;
	options.cri = runtime_cri(rig->runtime);
	options.log_directory = runtime_describe(rig->runtime)->work_directory;
	options.run_id = runtime_describe(rig->runtime)->run_id;
	return launcher_containerd_new(&options, &rig->launcher, err);
}

int main(int argc, char **argv)
{
	const char *const words[] = {"probe-test", "hang", NULL};
	const struct launch_spec spec = {.name = "victim", .command = words};
	struct rig rig = {0};
	struct launch *launch = NULL;
	struct error err = {0};
	int rc = 0;
	if (argc != 2 && argc != 5)
		return 2;
	if (argc == 5)
		rc = attach(&rig, argv, &err);
	else
		rig_open(&rig, argv[1]);
	if (rc == 0)
		rc = launch_start(rig.launcher, &spec, &launch, &err);
	if (rc < 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	say(launch_result(launch)->end == LAUNCH_RUNNING ? "running" : "ended");
	(void)pause();
	return 0;
}
