/* SPDX-License-Identifier: MIT */
/* Calls about the runtime itself and about images. */
#include "base/cleanup.h"
#include "containers/cri/call.h"

#include <string.h>

int cri_copy_promised(const char *value, const char *what, char **out, struct error *err)
{
	if (value == NULL || value[0] == '\0')
		return error_set(err, ERROR_PROTOCOL, "the runtime's answer has no %s", what);
	*out = strdup(value);
	return *out != NULL ? 0 : error_memory(err);
}

/* protobuf-c declares strings of requests without const and does not change them. */
static Runtime__V1__ImageSpec cri_image_spec(const char *image)
{
	Runtime__V1__ImageSpec spec = {0};

	runtime__v1__image_spec__init(&spec);
	memcpy(&spec.image, &image, sizeof(image));
	return spec;
}

int cri_version_wait(struct cri *cri, Runtime__V1__VersionResponse **out, struct error *err)
{
	Runtime__V1__VersionRequest request = {0};
	char version[] = "v1";

	runtime__v1__version_request__init(&request);
	request.version = version;
	return cri_call_wait(cri, CRI_RUNTIME_METHOD("Version"), &request.base,
			     &runtime__v1__version_response__descriptor, CRI_TIMEOUT_MS, out, err);
}

int cri_status_wait(struct cri *cri, bool verbose, Runtime__V1__StatusResponse **out,
		    struct error *err)
{
	Runtime__V1__StatusRequest request = {0};

	runtime__v1__status_request__init(&request);
	request.verbose = verbose;
	return cri_call_wait(cri, CRI_RUNTIME_METHOD("Status"), &request.base,
			     &runtime__v1__status_response__descriptor, CRI_TIMEOUT_MS, out, err);
}

int cri_runtime_config_wait(struct cri *cri, Runtime__V1__RuntimeConfigResponse **out,
			    struct error *err)
{
	Runtime__V1__RuntimeConfigRequest request = {0};

	runtime__v1__runtime_config_request__init(&request);
	return cri_call_wait(cri, CRI_RUNTIME_METHOD("RuntimeConfig"), &request.base,
			     &runtime__v1__runtime_config_response__descriptor, CRI_TIMEOUT_MS, out,
			     err);
}

int cri_image_status_wait(struct cri *cri, const char *image, bool verbose,
			  Runtime__V1__ImageStatusResponse **out, struct error *err)
{
	Runtime__V1__ImageStatusRequest request = {0};
	Runtime__V1__ImageSpec spec = cri_image_spec(image);

	runtime__v1__image_status_request__init(&request);
	request.image = &spec;
	request.verbose = verbose;
	return cri_call_wait(cri, CRI_IMAGE_METHOD("ImageStatus"), &request.base,
			     &runtime__v1__image_status_response__descriptor, CRI_TIMEOUT_MS, out,
			     err);
}

int cri_list_images_wait(struct cri *cri, Runtime__V1__ListImagesResponse **out, struct error *err)
{
	Runtime__V1__ListImagesRequest request = {0};

	runtime__v1__list_images_request__init(&request);
	return cri_call_wait(cri, CRI_IMAGE_METHOD("ListImages"), &request.base,
			     &runtime__v1__list_images_response__descriptor, CRI_TIMEOUT_MS, out,
			     err);
}

int cri_pull_image_wait(struct cri *cri, const char *image, char **reference, struct error *err)
{
	Runtime__V1__PullImageRequest request = {0};
	Runtime__V1__PullImageResponse *reply CLEANUP_CRI_REPLY = NULL;
	Runtime__V1__ImageSpec spec = cri_image_spec(image);
	int rc = 0;

	runtime__v1__pull_image_request__init(&request);
	request.image = &spec;
	rc = cri_call_wait(cri, CRI_IMAGE_METHOD("PullImage"), &request.base,
			   &runtime__v1__pull_image_response__descriptor, CRI_TIMEOUT_MS, &reply,
			   err);
	if (rc < 0 || reference == NULL)
		return rc;
	return cri_copy_promised(reply->image_ref, "image reference", reference, err);
}

int cri_remove_image_wait(struct cri *cri, const char *image, struct error *err)
{
	Runtime__V1__RemoveImageRequest request = {0};
	Runtime__V1__ImageSpec spec = cri_image_spec(image);

	runtime__v1__remove_image_request__init(&request);
	request.image = &spec;
	return cri_call_id_wait(cri, CRI_IMAGE_METHOD("RemoveImage"), &request.base,
				&runtime__v1__remove_image_response__descriptor, err);
}
