/* SPDX-License-Identifier: MIT */
#pragma once

/* A private containerd with the test program's image, shared by the tests of one program. */

#include "containers/images/images.h"
#include "containers/launch/launch.h"
#include "containers/runtime/runtime.h"

#include <uv.h>

/* Makes a base directory's name of this process's own: below /run, where socket paths are short.
 * The directory does not exist. What earlier test programs that died have left is removed. Kept
 * until the program ends. */
const char *rig_base(const char *name);

struct rig {
	uv_loop_t loop;
	struct runtime *runtime;
	struct images images;
	struct launcher *launcher;
};

/* Exit code for ctest when containers cannot be run at all (no root, no containerd). */
enum { RIG_SKIP = 77 };
const char *rig_reason_to_skip(void); /* NULL: there is none */

/* Programs of the tests: build/.../tests/container-programs. */
const char *rig_program_directory(void);

/* Starts everything and ends the program with a message if it cannot. */
void rig_open(struct rig *rig, const char *base_directory);
void rig_open_with(struct rig *rig, const char *base_directory, const char *program_directory);
void rig_close(struct rig *rig);

/* Runs probe-test with these words; words[0] is ignored. Ends the program when the harness fails.
 */
struct launch *rig_run(struct rig *rig, const struct launch_spec *spec);
