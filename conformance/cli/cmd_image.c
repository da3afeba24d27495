/* SPDX-License-Identifier: MIT */
/* `image`: the images of the probes. Each command is a row of main.c's table. */
#include "conformance/cli/commands.h"
#include "containers/images/images.h"
#include "containers/offers.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
	const char *output;
	const char *name;
	bool pause;
} build;

static int build_run(const struct text_list *families)
{
	const struct images_choice choice = {
		.families = families, .reference = build.name, .pause = build.pause};
	struct images images = {0};
	struct error err = {0};
	int rc = 0;
	if (build.output == NULL)
		rc = error_set(&err, ERROR_ARGUMENT, "--out: name the file to write");
	else if (!OFFERS_IMAGES)
		rc = error_set(&err, ERROR_UNSUPPORTED,
			       "images of Windows programs are not composed; build one with the "
			       "Containerfiles of share/gpucert/deploy/windows");
	else
		rc = images_build(build.output, &choice, &images, &err);
	if (rc < 0)
		return command_failed("image build", rc, &err);
	(void)printf("%s %s\n", images.probe.reference, images.probe.digest);
	if (build.pause)
		(void)printf("%s %s\n", images.pause.reference, images.pause.digest);
	images_free(&images);
	return EXIT_SUCCESS;
}

static const struct option_spec build_options[] = {
	{OPTION_ROW("out", OPTION_STRING, build.output), .letter = 'o', .value = "FILE",
	 .help = "The archive to write. Required."},
	{OPTION_ROW("name", OPTION_STRING, build.name), .letter = 'n', .value = "REFERENCE",
	 .help = "The image's name: REGISTRY/NAME:TAG. Default: docker.io/gpucert/probe, tagged with "
		 "its digest."},
	{OPTION_ROW("pause", OPTION_FLAG, build.pause),
	 .help = "Also put the pause image for pod sandboxes (docker.io/gpucert/pause:1) into the "
		 "archive."},
	{0},
};

const struct command_spec command_image_build = {
	.name = "image build",
	.summary = "Write the image of the probes as an archive, for a registry or a node",
	.arguments = "[FAMILY...]",
	.description =
		"Composes an image, as 'run' does for itself, from the probes of this installation, "
		"the libraries of this machine that they need, and the loaders of their APIs; "
		"drivers come from the device plugin. Each family is a layer: compute (CUDA, HIP, "
		"Level Zero, NVML, OpenCL), graphics (OpenGL, Vulkan), video (the encoders), directx "
		"(Direct3D 12 by vkd3d, on the Vulkan loader of graphics). Default: all families. "
		"probe-visibility is always included.\n\nThe archive is an OCI image layout with "
		"uncompressed layers. The same files produce the same bytes and the same digest. "
		"Prints the name and the digest of each image. 'run --image' requires an image of "
		"the same build of gpucert.",
	.options = build_options,
	.examples = TEXTS(
		"gpucert image build --name registry.example/gpucert-probes:1 --out probes.tar",
		"Write the image of all probes.",
		"skopeo copy oci-archive:probes.tar docker://registry.example/gpucert-probes:1",
		"Push it into a registry.", "ctr --namespace k8s.io images import probes.tar",
		"Or import it into the container runtime of one node.",
		"gpucert run --cri unix:///run/containerd/containerd.sock --image "
		"registry.example/gpucert-probes:1",
		"Certify that node with it.", "gpucert image build compute video --out small.tar",
		"Write an image with the probes of two families only."),
	.exit_codes = EXIT_CODES(
		"done", "the image cannot be composed or written; an existing FILE is unchanged"),
	.run = build_run,
};
