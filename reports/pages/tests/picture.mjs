// SPDX-License-Identifier: MIT
// usage: picture.mjs PAGE.html OUT.png
// The first screen of a page, for README.md.
import {launch, open} from './browser.mjs';

const [page, out] = process.argv.slice(2);
const browser = await launch();
const opened = await open(browser, page, {colorScheme: 'light', viewport: {width: 1280, height: 800}});
await opened.page.screenshot({path: out});
await browser.close();
