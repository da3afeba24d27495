#!/bin/sh
# SPDX-License-Identifier: MIT
# Certifies the nodes of a new node pool of GKE Standard: gke.sh --help, docs/clouds.md.
cloud=gke
variables="CLUSTER LOCATION PROJECT"
needs="CLUSTER, LOCATION, PROJECT; IMAGE for certify; NODES (1), INSTANCE_TYPE (g2-standard-4), ACCELERATOR (type=nvidia-l4,count=1)"
no_windows="no source was found that a node pool with Windows can have GPUs on GKE"
. "$(dirname "$0")/steps.sh"

credentials() {
	step env KUBECONFIG="$state/kubeconfig" gcloud container clusters get-credentials "$CLUSTER" --location "$LOCATION" --project "$PROJECT"
}

pool_create() {
	step gcloud container node-pools create "$id" --cluster "$CLUSTER" --location "$LOCATION" --project "$PROJECT" \
		--machine-type "${INSTANCE_TYPE:-g2-standard-4}" --num-nodes "$NODES" --image-type COS_CONTAINERD \
		--accelerator "${ACCELERATOR:-type=nvidia-l4,count=1},gpu-driver-version=default" \
		--node-labels "gpucert.internal/pool=$id" --node-taints nvidia.com/gpu=present:NoSchedule
}

plan() {
	certify --toleration nvidia.com/gpu -- --plugin-profile gke-nvidia "$@"
}

# The driver is in a folder of the node: the pod sees it at the same place, from which the plugin's answers mount it, and at the place
# where the plugin's own pod has it.
adapt_jobs() {
	jobs='jobs-with-driver.json'
	step_to "$jobs" jq '.items[].spec.template.spec |= (
	.volumes += [{name: "driver", hostPath: {path: "/home/kubernetes/bin/nvidia", type: "Directory"}}]
	| .containers[0].volumeMounts += (["/home/kubernetes/bin/nvidia", "/usr/local/nvidia"] | map({name: "driver", mountPath: ., readOnly: true}))
	| .containers[0].env += [{name: "LD_LIBRARY_PATH", value: "/usr/local/nvidia/lib64"}])' "$state/jobs.json"
}

pool_delete() {
	step gcloud container node-pools delete "$id" --cluster "$CLUSTER" --location "$LOCATION" --project "$PROJECT" --quiet
}

main "$@"
