// SPDX-License-Identifier: MIT
// usage: node matrix.mjs [CHANNEL|EDITION...]
// The images of images.json as a build matrix for a CI: {"include": [...]}, as `strategy.matrix` of GitHub Actions takes it with
// fromJSON(). With channels (ltsc2022) or editions (servercore) those alone.
import { readFileSync } from "node:fs";

const { channels } = JSON.parse(readFileSync(new URL("images.json", import.meta.url), "utf8"));
const include = channels.flatMap(({ channel, osVersion, runsOn, editions }) => Object.entries(editions).map(([edition, moving]) => ({
	channel, edition, osVersion, runsOn,
	base: moving.replace(/:.*/, `:${osVersion}`),
	containerfile: `${channel}-${edition}.Containerfile`,
	tag: edition === "server" ? channel : `${channel}-${edition}`,
})));
const known = [...new Set(include.flatMap((image) => [image.channel, image.edition]))];
const wanted = process.argv.slice(2);
const wrong = wanted.find((name) => !known.includes(name));
if (wrong !== undefined) {
	console.error(`matrix.mjs: ${wrong} is not one of ${known.filter((n) => n.startsWith("ltsc")).join(", ")}, ${
		known.filter((n) => !n.startsWith("ltsc")).join(", ")}`);
	process.exit(2);
}
const fits = (name, names) => names.length === 0 || names.includes(name);
console.log(JSON.stringify({ include: include.filter(({ channel, edition }) =>
	fits(channel, wanted.filter((n) => channels.some((c) => c.channel === n))) &&
	fits(edition, wanted.filter((n) => !channels.some((c) => c.channel === n)))) }));
