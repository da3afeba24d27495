// SPDX-License-Identifier: MIT
// What every page must do, one look each. A look gets the browser and the page as {file, texts, filter, first}: texts that a reader must
// find, those that may be `folded` away, and a query with a text that `stays` and one that `goes`. It returns what is wrong, in words.
import {readFileSync, statSync} from 'node:fs';
import {createRequire} from 'node:module';
import {open} from './browser.mjs';

const SIZE_MAX = 300 * 1000;
const CPU_SECONDS_MAX = 3; // one that grows with the square takes minutes
const STOPS_MAX = 80; // of the Tab key
const FRAMES_MAX = 120; // until what has the focus is in view
const HEIGHT_MAX = 16000; // of a window; more than Chromium draws
export const WIDTHS = [1280, 390];
export const THEMES = ['light', 'dark'];
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// In the page, or the part of it that a selector names: which of the texts nobody sees. A text is seen where an element has it as
// its own.
const unseen = (page, texts, part = 'body') => page.evaluate(([wanted, selector]) => {
	const missing = new Set(wanted);
	const walker = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
	while (missing.size > 0 && walker.nextNode()) {
		const {data, parentElement} = walker.currentNode;
		for (const text of missing)
			if (data.includes(text) && parentElement.checkVisibility({opacityProperty: true, visibilityProperty: true}))
				missing.delete(text);
	}
	return [...missing];
}, [texts, part]);

// Opens the page, lets `look` add to its faults, and closes it.
async function onPage(browser, file, options, look) {
	const {page, faults, context} = await open(browser, file, options);
	await look(page, faults);
	await context.close();
	return faults;
}

const each = async (items, make) => {
	const faults = [];
	for (const item of items)
		faults.push(...await make(item));
	return faults;
};

const readable = (browser, {file, texts, folded = []}) => each([true, false], (javaScriptEnabled) =>
	onPage(browser, file, {javaScriptEnabled}, async (page, faults) => {
		for (const text of await unseen(page, texts))
			faults.push(`${javaScriptEnabled ? 'with' : 'without'} JavaScript '${text}' is not seen`);
		for (const text of folded)
			if (!(await page.evaluate(() => document.body.textContent)).includes(text))
				faults.push(`'${text}' is not there`);
		if (await page.locator('h1').count() !== 1 || await page.title() === '')
			faults.push('not one heading of the first level, or no title');
	}));

const locked = (browser, {file}) => onPage(browser, file, {}, async (page, faults) => {
	const policy = await page.evaluate(() => {
		const meta = document.querySelector('meta[http-equiv="Content-Security-Policy" i]');
		const first = document.querySelector('style, script, link, img');
		return meta === null || (first !== null && meta.compareDocumentPosition(first) & Node.DOCUMENT_POSITION_PRECEDING) ? '' : meta.content;
	});
	const directives = new Map(policy.split(';').map((directive) => directive.trim().split(/\s+/)).map(([name, ...values]) => [name, values]));
	if (directives.get('default-src')?.join() !== "'none'")
		faults.push("no Content-Security-Policy with default-src 'none' before everything else");
	for (const [name, values] of directives)
		for (const value of values)
			if (!/^'(none|sha256-.+)'$/.test(value) && !(name.startsWith('style-src') && value === "'unsafe-inline'") && !(name === 'img-src' && value === 'data:'))
				faults.push(`the policy allows ${name} ${value}`);
	for (const name of ['base-uri', 'form-action'])
		if (directives.get(name)?.join() !== "'none'")
			faults.push(`the policy lacks ${name} 'none'`);
});

const inert = (browser, {file}) => onPage(browser, file, {}, async (page, faults) => {
	const {wrong, characters} = await page.evaluate(() => ({
		wrong: [
			...[...document.querySelectorAll('[data-hostile], iframe, object, embed, base, link, form')].map((element) => `<${element.localName}>`),
			...[...document.querySelectorAll('*')].flatMap((element) => [...element.attributes].filter(({name}) => name.startsWith('on')).map(({name}) => `an attribute ${name}`)),
			...[...document.querySelectorAll('[href], [src], [action], [data]')]
				.filter((element) => ['href', 'src', 'action', 'data'].some((name) => element.hasAttribute(name)
					&& !/^(file|https?|data:image\/[a-z+]+;base64,)/.test(new URL(element.getAttribute(name), document.baseURI).href)))
				.map((element) => `a link to ${element.getAttribute('href') ?? element.getAttribute('src')}`),
		],
		// Controls, and what turns the order of characters. Attributes are shown as well.
		characters: [...new Set(document.documentElement.outerHTML.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu) ?? [])]
			.map((character) => `U+${character.codePointAt(0).toString(16).padStart(4, '0')}`),
	}));
	if (await page.evaluate(() => globalThis.hostile !== undefined))
		faults.push('the report\'s own script ran');
	faults.push(...wrong.map((what) => `it holds ${what}`), ...characters.map((what) => `it shows the character ${what}`));
});

const filters = (browser, {file, filter}) => onPage(browser, file, {}, async (page, faults) => {
	const search = page.locator('input[type=search]').first();
	if (await search.count() === 0)
		return faults.push('no field to search in');
	const list = await page.evaluate(() => `#${document.querySelector('.filter').dataset.list}`);
	const expect = async (when, seen, hidden) => {
		for (const text of await unseen(page, seen, list))
			faults.push(`${when} '${text}' is not seen`);
		if ((await unseen(page, hidden, list)).length < hidden.length)
			faults.push(`${when} '${hidden.join()}' is still seen`);
	};
	await search.fill(filter.query);
	await settle(page);
	await expect(`with '${filter.query}' in the search`, [filter.stays], [filter.goes]);
	await search.press('Escape');
	await settle(page);
	await expect('after Escape', [filter.stays, filter.goes], []);
	await search.fill('no check has this name');
	await settle(page);
	await expect('with a name that nothing has', [], [filter.stays]);
	await linked(page, list, faults);
	await search.press('Escape');
	await narrowed(page, list, faults);
});

// A link brings back what was filtered out.
async function linked(page, list, faults) {
	const id = await page.evaluate((selector) => document.querySelector(`${selector} > [id]`)?.id, list);
	if (id === undefined)
		return;
	await page.evaluate((anchor) => { location.hash = anchor; }, id);
	await settle(page);
	if (!await page.evaluate((anchor) => document.getElementById(anchor).checkVisibility(), id))
		faults.push(`a link to ${id} does not bring back what was filtered out`);
}

// Space on the button of a kind leaves its items alone.
async function narrowed(page, list, faults) {
	const facet = page.locator('.facet').first();
	await facet.press('Space');
	await settle(page);
	const wrong = await page.evaluate(([selector, kind]) => [...document.querySelectorAll(`${selector} > [data-facet]`)]
		.filter((item) => item.checkVisibility() !== (item.dataset.facet === kind)).length, [list, await facet.getAttribute('data-facet')]);
	if (wrong > 0)
		faults.push(`the button of a kind shows or hides ${wrong} items wrongly`);
}

// Two frames: what an event began is drawn.
const settle = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

// A focus scrolls into view in a later frame: what is drawn there for the first time (content-visibility) moves it once more.
const scrolled = (page) => page.evaluate(async (framesMax) => {
	for (let frame = 0; frame < framesMax; ++frame) {
		await new Promise(requestAnimationFrame);
		const box = document.activeElement.getBoundingClientRect();
		if (frame > 0 && box.bottom > 0 && box.top < innerHeight)
			return;
	}
}, FRAMES_MAX);

// What the Tab key has reached: where it is in the document, and whether one can see that it is there.
const focused = (page) => page.evaluate(() => {
	const element = document.activeElement;
	if (element === null || element === document.body)
		return null;
	const [box] = element.getClientRects(); // of a link that is broken into lines, the first
	const style = getComputedStyle(element);
	const middle = (begin, end, limit) => (Math.max(begin, 0) + Math.min(end, limit)) / 2;
	const at = document.elementFromPoint(middle(box.left, box.right, innerWidth), middle(box.top, box.bottom, innerHeight));
	return {
		place: [...document.querySelectorAll('*')].indexOf(element),
		name: `<${element.localName}> ${(element.textContent || element.getAttribute('aria-label') || element.name || '').trim().slice(0, 40)}`,
		within: box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth && box.width > 0,
		covered: at === null || element.contains(at) ? '' : at.outerHTML.slice(0, 80),
		ring: (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1) || style.boxShadow !== 'none',
	};
});

const keyboard = (browser, {file}) => each(WIDTHS, (width) => onPage(browser, file, {viewport: {width, height: 800}, reducedMotion: 'reduce'}, async (page, faults) => {
	const places = [];
	while (places.length < STOPS_MAX) {
		await page.keyboard.press('Tab');
		await scrolled(page);
		const stop = await focused(page);
		if (stop === null || places.includes(stop.place))
			break;
		if (stop.place < places.at(-1))
			faults.push(`Tab goes back to ${stop.name}`);
		if (!stop.within || stop.covered)
			faults.push(`at ${width} pixels ${stop.name} has the focus and ${stop.within ? `${stop.covered} covers it` : 'is out of view'}`);
		if (!stop.ring)
			faults.push(`${stop.name} does not show that it has the focus`);
		places.push(stop.place);
	}
	if (places.length === 0)
		faults.push('Tab reaches nothing');
	await toggles(page, faults);
}));

// Enter opens what is closed, and closes it.
async function toggles(page, faults) {
	const details = page.locator('details:visible').first();
	if (await details.count() === 0)
		return;
	const summary = details.locator('> summary');
	const is = () => details.evaluate((element) => element.open);
	const before = await is();
	await summary.press('Enter');
	const after = await is();
	await summary.press('Enter');
	if (before === after || await is() !== before)
		faults.push('Enter does not open and close what can be opened');
}

const fits = (browser, {file}) => each(WIDTHS, (width) => onPage(browser, file, {viewport: {width, height: 800}}, async (page, faults) => {
	const wide = await page.evaluate(() => document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth);
	if (wide <= 0)
		return;
	const widest = await page.evaluate(() => [...document.body.querySelectorAll('*')]
		.findLast((element) => element.getBoundingClientRect().right > innerWidth + 1)?.outerHTML.slice(0, 100));
	faults.push(`at ${width} pixels it is ${wide} pixels too wide: ${widest}`);
}));

// The page is looked at as a whole: what is out of view may not be drawn, and is then not judged.
const accessible = async (browser, {file}) => {
	const faults = new Map(); // of each, where it was found
	for (const colorScheme of THEMES)
		for (const width of WIDTHS) {
			const seen = await onPage(browser, file, {colorScheme, viewport: {width, height: 800}}, async (page, found) => {
				await page.setViewportSize({width, height: Math.min(await page.evaluate(() => document.documentElement.scrollHeight), HEIGHT_MAX)});
				await page.evaluate(axe);
				const {violations} = await page.evaluate(() => axe.run(document, {preload: false, resultTypes: ['violations']}));
				found.push(...violations.map(({id, help, nodes}) => `${id} (${help}) at ${nodes.length} places: ${nodes[0].html.slice(0, 150)}`));
			});
			for (const fault of seen)
				faults.set(fault, [...faults.get(fault) ?? [], `${colorScheme} ${width}`]);
		}
	return [...faults].map(([fault, where]) => `${where.join(', ')}: ${fault}`);
};

// Nothing is closed or cut off on paper.
const prints = (browser, {file, texts, folded = []}) => onPage(browser, file, {}, async (page, faults) => {
	await page.emulateMedia({media: 'print'});
	await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
	for (const text of await unseen(page, [...texts, ...folded]))
		faults.push(`in print '${text}' is not seen`);
	faults.push(...await page.evaluate(() => [
		...[...document.querySelectorAll('details > :not(summary)')].filter((element) => !element.checkVisibility())
			.slice(0, 1).map((element) => `in print it is closed: ${element.outerHTML.slice(0, 100)}`),
		...[...document.querySelectorAll('body *')].filter((element) => getComputedStyle(element).overflowY !== 'visible' && element.scrollHeight > element.clientHeight + 1 && element.clientHeight > 1)
			.slice(0, 1).map((element) => `in print it is cut off: ${element.outerHTML.slice(0, 100)}`),
	]));
});

const light = (browser, {file}) => {
	const {size} = statSync(file);
	return size < SIZE_MAX ? [] : [`it has ${size} bytes, ${SIZE_MAX} are allowed`];
};

// Seconds that the page's process computed: what else runs on the machine does not count.
async function cpuSeconds(session) {
	const {metrics} = await session.send('Performance.getMetrics');
	return metrics.find(({name}) => name === 'ProcessTime').value;
}

// Loaded and drawn, and searched in.
const fast = (browser, {file, filter}) => onPage(browser, file, {}, async (page, faults) => {
	const session = await page.context().newCDPSession(page);
	await session.send('Performance.enable', {timeDomain: 'threadTicks'});
	const measure = async (what, act) => {
		let best = Infinity;
		for (let i = 0; i < 6 && (i < 2 || best > CPU_SECONDS_MAX); i++) { // others on the machine take caches as well
			const before = await cpuSeconds(session);
			await act(i);
			await settle(page);
			best = Math.min(best, await cpuSeconds(session) - before);
		}
		console.log(`    ${what}: ${best.toFixed(2)} s`);
		if (best > CPU_SECONDS_MAX)
			faults.push(`${what} takes ${best.toFixed(2)} s of the processor, ${CPU_SECONDS_MAX} s is allowed`);
	};
	await measure('to load', () => page.reload());
	const search = page.locator('input[type=search]').first();
	await measure('to search', async (i) => {
		await search.fill(i % 2 === 0 ? filter.query : '');
	});
});

// What a reader opens the page for is seen before anything is scrolled: all of the first element that `first` selects, with its text.
const FIRST_SCREENS = [{width: 1280, height: 800}, {width: 390, height: 844}];
const firstScreen = (browser, {file, first}) => each(first === undefined ? [] : FIRST_SCREENS, (viewport) =>
	onPage(browser, file, {viewport}, async (page, faults) => {
		await settle(page); // with content-visibility, there is no text before the first frame
		const {top, bottom, text} = await page.evaluate(([selector]) => {
			const element = document.querySelector(selector);
			const box = element?.getBoundingClientRect();
			return {top: box?.top, bottom: box?.bottom, text: element?.checkVisibility() ? element.innerText : ''};
		}, [first.selector]);
		if (!(top >= 0 && bottom <= viewport.height) || !first.texts.every((part) => text.includes(part)))
			faults.push(`at ${viewport.width}x${viewport.height} ${first.selector} is at ${top} to ${bottom} and reads '${text}'`);
	}));

export const looks = {readable, firstScreen, locked, inert, filters, keyboard, fits, accessible, prints, light};
export const looksAtLarge = {locked, filters, fits, fast};
