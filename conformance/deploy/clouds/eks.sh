#!/bin/sh
# SPDX-License-Identifier: MIT
# Certifies the nodes of a new node group of EKS: eks.sh --help, docs/clouds.md.
cloud=eks
variables="CLUSTER REGION"
needs="CLUSTER, REGION; IMAGE for certify; NODES (1), INSTANCE_TYPE (g4dn.xlarge), WINDOWS (2022 or 2025)"
. "$(dirname "$0")/steps.sh"

credentials() {
	step aws eks update-kubeconfig --name "$CLUSTER" --region "$REGION" --kubeconfig "$state/kubeconfig"
}

# create_group FAMILY OPTION...
create_group() {
	family=$1
	shift
	step eksctl create nodegroup --cluster "$CLUSTER" --region "$REGION" --name "$id" --managed --node-ami-family "$family" \
		--node-type "${INSTANCE_TYPE:-g4dn.xlarge}" --nodes "$NODES" --nodes-min "$NODES" --nodes-max "$NODES" \
		--node-labels "gpucert.internal/pool=$id" --install-nvidia-plugin=false "$@"
}

pool_create() {
	create_group AmazonLinux2023
}

pool_create_windows() {
	say "the nodes have no GPU driver: install NVIDIA's GRID driver on each, or use an AMI of your own"
	create_group "WindowsServer${WINDOWS:-2022}CoreContainer"
}

# The plugin's default answer, a variable, needs NVIDIA's container runtime; a run's own containerd has runc and CDI.
plan() {
	certify --toleration nvidia.com/gpu -- --plugin-profile nvidia --plugin "nvidia-device-plugin --device-list-strategy=cdi-cri" \
		--resource nvidia.com/gpu "$@"
}

pool_delete() {
	step eksctl delete nodegroup --cluster "$CLUSTER" --region "$REGION" --name "$id" --wait
}

main "$@"
