// SPDX-License-Identifier: MIT
// usage: screenshots.mjs GPUCERT SOURCE OUT [KIND...]
// Pictures of every page in both themes and at both widths, for people, in OUT/screenshots.
import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {launch, open} from './browser.mjs';
import {THEMES, WIDTHS} from './looks.mjs';
import {kinds, Samples} from './samples.mjs';

const [gpucert, source, out, ...wanted] = process.argv.slice(2);
const HEIGHT_MAX = 6000; // the beginning of a long page tells enough
const folder = join(out, 'screenshots');
const browser = await launch();
const samples = new Samples(gpucert, source, out);
mkdirSync(folder, {recursive: true});
for (const {name, file, large} of (wanted.length > 0 ? wanted : kinds).flatMap((kind) => samples[kind]()))
	for (const colorScheme of THEMES)
		for (const width of WIDTHS) {
			const {page, context} = await open(browser, file, {colorScheme, viewport: {width, height: 900}});
			const height = Math.min(await page.evaluate(() => document.documentElement.scrollHeight), large ? 1800 : HEIGHT_MAX);
			const path = join(folder, `${name.replace('.html', '')}-${colorScheme}-${width}.png`);
			await page.setViewportSize({width, height}); // what is out of view is not drawn
			await page.screenshot({path});
			await context.close();
			console.log(path);
		}
await browser.close();
