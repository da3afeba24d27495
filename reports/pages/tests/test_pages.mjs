// SPDX-License-Identifier: MIT
// usage: test_pages.mjs KIND GPUCERT SOURCE OUT [LOOK...]
// Makes the pages of a kind, and does every look (or those that are named) at each in Chromium.
import {launch} from './browser.mjs';
import {looks, looksAtLarge} from './looks.mjs';
import {Samples} from './samples.mjs';

const [kind, gpucert, source, out, ...wanted] = process.argv.slice(2);
const browser = await launch();
let wrong = 0;
for (const sample of new Samples(gpucert, source, out)[kind]()) {
	console.log(sample.name);
	for (const [name, look] of Object.entries(sample.large ? looksAtLarge : looks)) {
		if ((name === 'filters' && sample.filter === undefined) || (wanted.length > 0 && !wanted.includes(name)))
			continue;
		for (const fault of await look(browser, sample)) {
			console.log(`  ${name}: ${fault}`);
			wrong++;
		}
	}
}
await browser.close();
console.log(wrong === 0 ? 'nothing is wrong' : `${wrong} things are wrong`);
process.exitCode = wrong === 0 ? 0 : 1;
