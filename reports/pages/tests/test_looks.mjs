// SPDX-License-Identifier: MIT
// usage: test_looks.mjs GPUCERT SOURCE OUT
// Each look finds what it is there to find: a page of which one thing was spoilt is refused for that.
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {launch} from './browser.mjs';
import {looks, looksAtLarge} from './looks.mjs';
import {Samples} from './samples.mjs';

const [gpucert, source, out] = process.argv.slice(2);

// The page without its policy, which would keep some faults from showing.
const open = (html) => html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, '');
const before = (mark, what) => (html) => html.replace(mark, `${what}${mark}`);
const style = (rules) => (html) => open(html).replace('</style>', `${rules}</style>`);
const body = (what) => before('</main>', what);
const script = (what) => (html) => open(html).replace('</main>', `</main><script>${what}</script>`);

// The look, what is spoilt, how, and what the fault must speak of.
const rows = [
	['readable', 'a text is hidden', style('main { visibility: hidden; }'), /with JavaScript '.*' is not seen/],
	['readable', 'a text needs the script', (html) => script('document.querySelector("main").hidden = false')(html.replace('<main', '<main hidden')), /without JavaScript '.*' is not seen/],
	['readable', 'two headings', body('<h1>again</h1>'), /not one heading/],
	['readable', 'the console is written to', script('console.warn("x")'), /console warning: x/],
	['readable', 'the script fails', script('null.x'), /error: .*null/],
	['readable', 'a picture from elsewhere', (html) => body('<img alt="" src="http://127.0.0.1:9/x.png">')(open(html)), /asks for http/],
	['readable', 'a picture from the disk', (html) => body('<img alt="" src="x.png">')(open(html)), /asks for file:.*x.png/],
	['readable', 'a script of its own', body('<script>x = 1</script>'), /violates its policy: script-src/],
	['readable', 'a dialog', script('alert(1)'), /opens a dialog/],
	['locked', 'no policy', open, /no Content-Security-Policy/],
	['locked', 'a lax policy', (html) => html.replace("base-uri 'none'", "base-uri 'none'; connect-src https:"), /the policy allows connect-src https:/],
	['locked', 'forms', (html) => html.replace("form-action 'none'", ''), /lacks form-action/],
	['inert', 'markup', body('<b data-hostile></b>'), /it holds <b>/],
	['inert', 'a script that runs', script('hostile = 1'), /own script ran/],
	['inert', 'an attribute', body('<p onclick="x()">x</p>'), /an attribute onclick/],
	['inert', 'a link that is a script', body('<a href="javascript:x()">x</a>'), /a link to javascript/],
	['inert', 'an override of direction', body('<p>\u202ex</p>'), /U\+202e/],
	['inert', 'a control character', body('<p>\u001bx</p>'), /U\+001b/],
	['filters', 'no search', (html) => open(html).replace("type: 'search'", "type: 'text'"), /no field to search in/],
	['filters', 'it hides nothing', style('[hidden] { display: revert !important; }'), /is still seen/],
	['filters', 'Escape does nothing', script('addEventListener("keydown", (event) => { event.preventDefault(); event.stopPropagation(); }, true)'), /after Escape '.*' is not seen/],
	['filters', 'links lead to nothing', (html) => open(html).replace('owner.clear()', ''), /does not bring back what was filtered out/],
	['filters', 'kinds do nothing', (html) => open(html).replace('wanted.has(item.facet)', 'true'), /the button of a kind shows or hides \d+ items wrongly/],
	['keyboard', 'the focus is not shown', style('*:focus-visible { outline: none !important; box-shadow: none !important; }'), /does not show that it has the focus/],
	['keyboard', 'the order is turned', body('<button tabindex="1">x</button>'), /Tab goes back/],
	['keyboard', 'something covers it', style('body::after { content: ""; position: fixed; inset: 0; background: red; z-index: 9; }'), /covers it/],
	['fits', 'it is too wide', style('main { width: 600px; }'), /at 390 pixels it is \d+ pixels too wide/],
	['accessible', 'faint text', style('main td { color: #999 !important; background: #fff !important; }'), /color-contrast/],
	['accessible', 'faint text in the dark', style('@media (prefers-color-scheme: dark) { main td { color: #555 !important; background: #111 !important; } }'), /^dark 1280, dark 390: color-contrast/],
	['accessible', 'a button without a name', body('<button></button>'), /button-name/],
	['prints', 'it is not printed', style('@media print { main section { display: none; } }'), /in print '.*' is not seen/],
	['prints', 'something is closed', (html) => style('@media print { details::details-content { content-visibility: hidden !important; } }')(body('<details><summary>x</summary><p>y</p></details>')(html)), /in print it is closed/],
	['prints', 'something is cut off', style('main { height: 20px; overflow: auto !important; }'), /in print it is cut off/],
	['light', 'it is heavy', body(`<p>${'x'.repeat(300000)}</p>`), /300000 are allowed/],
	['fast', 'it computes', script('for (let i = 0; i < 5e9; i++);'), /to load takes/],
];

const browser = await launch();
const samples = new Samples(gpucert, source, out);
const sample = samples.plain();
const html = readFileSync(sample.file, 'utf8');
let missed = 0;
for (const [name, what, spoil, wanted] of rows) {
	const spoilt = {...sample, file: join(out, 'spoilt.html')};
	writeFileSync(spoilt.file, spoil(html));
	const faults = await ({...looks, ...looksAtLarge})[name](browser, spoilt);
	if (!faults.some((fault) => wanted.test(fault))) {
		console.log(`${name}: ${what}: not found, but ${JSON.stringify(faults)}`);
		missed++;
	}
}
await browser.close();
console.log(`${rows.length - missed} of ${rows.length} faults are found`);
process.exitCode = missed === 0 ? 0 : 1;
