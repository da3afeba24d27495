/* SPDX-License-Identifier: MIT */
/* An empty program that links the libraries of the reference plugin: the floor of its start. */
#include <cjson/cJSON.h>
#include <nghttp2/nghttp2.h>
#include <protobuf-c/protobuf-c.h>
#include <sodium.h>
#include <uv.h>
#include <yaml.h>

int main(void)
{
	/* Referenced, so that the linker keeps each library. */
	const void *const used[] = {
		(const void *)cJSON_Version(),	    (const void *)nghttp2_version(0),
		(const void *)protobuf_c_version(), (const void *)sodium_version_string(),
		(const void *)uv_version_string(),  (const void *)yaml_get_version_string(),
	};

	return used[0] == NULL;
}
