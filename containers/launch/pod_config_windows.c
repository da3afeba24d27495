/* SPDX-License-Identifier: MIT */
#include "containers/launch/pod_config.h"

/* No HostProcess container, which would run on the host and prove nothing about devices; so the
 * network is the pod's own, by CNI. The user is the image's. Paths and device strings stay what the
 * plugin gave, as kubelet passes them on: containerd brings them into their form. */
static Runtime__V1__WindowsNamespaceOption namespaces = {
	POD_MESSAGE(windows_namespace_option),
	.network = RUNTIME__V1__NAMESPACE_MODE__POD,
};
static Runtime__V1__WindowsSandboxSecurityContext sandbox_security = {
	POD_MESSAGE(windows_sandbox_security_context),
	.namespace_options = &namespaces,
};
static Runtime__V1__WindowsPodSandboxConfig sandbox = {
	POD_MESSAGE(windows_pod_sandbox_config),
	.security_context = &sandbox_security,
};
static Runtime__V1__WindowsContainerResources resources = {
	POD_MESSAGE(windows_container_resources),
};
static Runtime__V1__WindowsContainerSecurityContext security = {
	POD_MESSAGE(windows_container_security_context),
};
static Runtime__V1__WindowsContainerConfig container = {
	POD_MESSAGE(windows_container_config),
	.resources = &resources,
	.security_context = &security,
};

void pod_config_windows(struct pod_config *config)
{
	config->sandbox.windows = &sandbox;
	config->container.windows = &container;
}
