// SPDX-License-Identifier: MIT
// usage: node server.mjs SOCKET PROTO MOUNTS
// Answers Allocate with MOUNTS mounts and one device, as the reference plugin does on the benchmark's node.
import grpc from '@grpc/grpc-js';
import protobuf from 'protobufjs';

const [socket, proto, mounts] = process.argv.slice(2);
const root = protobuf.loadSync(proto, new protobuf.Root());
const request = root.lookupType('v1beta1.AllocateRequest');
const response = root.lookupType('v1beta1.AllocateResponse');

const container = {
	mounts: Array.from({length: Number(mounts)}, (_, i) => ({
		containerPath: `/usr/lib/x86_64-linux-gnu/libbenchmark_driver_${i}.so.535.54.03`,
		hostPath: `/usr/lib/x86_64-linux-gnu/libbenchmark_driver_${i}.so.535.54.03`,
		readOnly: true,
	})),
	devices: [{containerPath: '/dev/dri/renderD128', hostPath: '/dev/dri/renderD128', permissions: 'rw'}],
};

const service = {
	Allocate: {
		path: '/v1beta1.DevicePlugin/Allocate',
		requestStream: false,
		responseStream: false,
		requestDeserialize: (bytes) => request.decode(bytes),
		requestSerialize: (message) => request.encode(message).finish(),
		responseSerialize: (message) => response.encode(message).finish(),
		responseDeserialize: (bytes) => response.decode(bytes),
	},
};

const server = new grpc.Server();
server.addService(service, {
	Allocate: (call, callback) =>
		callback(null, {containerResponses: call.request.containerRequests.map(() => container)}),
});
server.bindAsync(`unix:${socket}`, grpc.ServerCredentials.createInsecure(), (error) => {
	if (error) throw error;
	console.log('ready');
});
