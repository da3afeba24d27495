/* SPDX-License-Identifier: MIT */
#include "containers/images/images.h"

int images_prepare(const char *directory, const char *program_directory, struct images *out,
		   struct error *err)
{
	(void)directory;
	(void)program_directory;
	(void)out;
	return error_set(err, ERROR_UNSUPPORTED,
			 "images of Windows programs are not composed; build one and name "
			 "it with --image (docs/windows-node.md)");
}

int images_describe_probes(const char *program_directory, struct image_manifest *out,
			   struct error *err)
{
	(void)program_directory;
	(void)out;
	return error_set(err, ERROR_UNSUPPORTED, "images of Windows programs are not known");
}
