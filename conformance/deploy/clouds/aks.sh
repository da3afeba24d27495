#!/bin/sh
# SPDX-License-Identifier: MIT
# Certifies the nodes of a new node pool of AKS: aks.sh --help, docs/clouds.md.
cloud=aks
variables="CLUSTER GROUP"
needs="CLUSTER, GROUP (the resource group); IMAGE for certify; NODES (1), INSTANCE_TYPE (Standard_NC4as_T4_v3), WINDOWS (2022 or 2025)"
. "$(dirname "$0")/steps.sh"

credentials() {
	step az aks get-credentials --resource-group "$GROUP" --name "$CLUSTER" --file "$state/kubeconfig"
}

# add_pool OPTION...
add_pool() {
	step az aks nodepool add --resource-group "$GROUP" --cluster-name "$CLUSTER" --name "$id" --node-count "$NODES" \
		--node-vm-size "${INSTANCE_TYPE:-Standard_NC4as_T4_v3}" --labels "gpucert.internal/pool=$id" \
		--node-taints sku=gpu:NoSchedule --output none "$@"
}

pool_create() {
	add_pool
}

pool_create_windows() {
	say "GPUs with Windows are a preview, which the subscription must register once (not done here):"
	say "az feature register --namespace Microsoft.ContainerService --name WindowsGPUPreview"
	add_pool --os-type Windows --os-sku "Windows${WINDOWS:-2022}"
}

# The plugin's default answer, a variable, needs NVIDIA's container runtime; a run's own containerd has runc and CDI.
plan() {
	certify --toleration sku --toleration nvidia.com/gpu -- --plugin-profile nvidia --plugin "nvidia-device-plugin --device-list-strategy=cdi-cri" \
		--resource nvidia.com/gpu "$@"
}

pool_delete() {
	step az aks nodepool delete --resource-group "$GROUP" --cluster-name "$CLUSTER" --name "$id"
}

main "$@"
