// SPDX-License-Identifier: MIT
// What both directions of the interoperability tests share. The servers on both sides are the same device
// plugin: Allocate answers an env "ID" for each device, but the device "fail:CODE:TEXT" fails with that
// status, "hold" is never answered, and "ended" answers how many held calls have ended. ListAndWatch sends
// 100 lists, the i-th with the device "gpu-i", and ends; after an Allocate of "forever" it stays open behind
// the first one, and after one of "shutdown" the server of server.mjs shuts down besides.
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

export { grpc };

export function devicePlugin(includeDirs) {
	const definition = loader.loadSync("services.proto", {
		includeDirs: includeDirs,
		keepCase: true,
		longs: String,
		defaults: true,
	});
	return grpc.loadPackageDefinition(definition).v1beta1.DevicePlugin;
}

export const failureText = "100 % of \u20ac\n\u{1F5A5} is gone";
