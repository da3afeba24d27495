/* SPDX-License-Identifier: MIT */
#include "containers/launch/pod_config.h"

/* No HostProcess container, which would run on the host and prove nothing about devices; so the
 * network is the pod's own, by CNI. The user is the image's. Paths and device strings stay what the
 * plugin gave, as kubelet passes them on: containerd brings them into their form. */
void pod_config_windows(struct pod_config *config, const struct launch_spec *spec)
{
	Runtime__V1__WindowsNamespaceOption *namespaces = &config->windows_parts.namespaces;
	Runtime__V1__WindowsSandboxSecurityContext *sandbox_security =
		&config->windows_parts.sandbox_security;
	Runtime__V1__WindowsContainerResources *resources = &config->windows_parts.resources;
	Runtime__V1__WindowsContainerSecurityContext *security = &config->windows_parts.security;
	Runtime__V1__WindowsPodSandboxConfig *sandbox = &config->windows_parts.sandbox;
	Runtime__V1__WindowsContainerConfig *container = &config->windows_parts.container;

	runtime__v1__windows_namespace_option__init(namespaces);
	namespaces->network = RUNTIME__V1__NAMESPACE_MODE__POD;
	runtime__v1__windows_sandbox_security_context__init(sandbox_security);
	sandbox_security->namespace_options = namespaces;
	runtime__v1__windows_pod_sandbox_config__init(sandbox);
	sandbox->security_context = sandbox_security;
	config->sandbox.windows = sandbox;
	runtime__v1__windows_container_resources__init(resources);
	resources->memory_limit_in_bytes = (int64_t)spec->memory_limit;
	runtime__v1__windows_container_security_context__init(security);
	runtime__v1__windows_container_config__init(container);
	container->resources = resources;
	container->security_context = security;
	config->container.windows = container;
}
