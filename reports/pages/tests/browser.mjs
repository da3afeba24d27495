// SPDX-License-Identifier: MIT
// Chromium, and pages in it from which nothing goes out and whose complaints are kept.
import {existsSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

const SKIPPED = 77;

// The shell draws as the browser does, without the browser's own windows, which cost ten times what the pages do.
function findChromium() {
	for (const folder of process.env.PATH.split(delimiter))
		for (const name of ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'])
			if (existsSync(join(folder, name)))
				return join(folder, name);
	console.log('skipped: Chromium is not installed (Debian: apt install chromium-headless-shell)');
	process.exit(SKIPPED);
}

// As root Chromium's sandbox does not start. The pages are the test's own, and reach nothing.
export const launch = () => chromium.launch({
	executablePath: findChromium(),
	args: ['--no-sandbox', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND'],
});

// What a page must not do is noted in `faults`. Options are those of a context in Playwright.
export async function open(browser, file, options = {}) {
	const url = pathToFileURL(file).href;
	const context = await browser.newContext({viewport: {width: 1280, height: 800}, ...options});
	const faults = [];
	await context.route('**/*', (route) => {
		if (route.request().url().split('#')[0] === url)
			return route.continue();
		faults.push(`asks for ${route.request().url()}`);
		return route.abort();
	});
	await context.addInitScript(() => document.addEventListener('securitypolicyviolation',
		(event) => console.error(`violates its policy: ${event.effectiveDirective} ${event.blockedURI}`)));
	const page = await context.newPage();
	page.setDefaultTimeout(120000); // a busy machine takes its time
	page.on('console', (message) => {
		if (['error', 'warning', 'assert'].includes(message.type()))
			faults.push(`console ${message.type()}: ${message.text()}`);
	});
	page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
	page.on('dialog', (dialog) => {
		faults.push(`opens a dialog: ${dialog.message()}`);
		return dialog.dismiss();
	});
	page.on('popup', (popup) => faults.push(`opens ${popup.url()}`));
	page.on('download', (download) => faults.push(`downloads ${download.url()}`));
	await page.goto(url);
	return {page, faults, context};
}
