/* SPDX-License-Identifier: MIT */
'use strict';
(() => {
	const root = document.documentElement;

	/* The theme: what the system prefers, light or dark; remembered where the browser lets a page from disk remember. */
	const themes = ['system', 'light', 'dark'];
	const button = document.getElementById('theme');
	const remembered = {
		get() { try { return localStorage.getItem('gpucert-theme'); } catch { return null; } },
		set(theme) { try { localStorage.setItem('gpucert-theme', theme); } catch { /* not here */ } },
	};
	const showTheme = (theme) => {
		root.dataset.theme = theme;
		button.querySelector('span').textContent = theme;
	};
	showTheme(themes.includes(remembered.get()) ? remembered.get() : 'system');
	button.hidden = false;
	button.addEventListener('click', () => {
		const next = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
		showTheme(next);
		remembered.set(next);
	});

	const make = (tag, properties, ...children) => {
		const element = Object.assign(document.createElement(tag), properties);
		element.append(...children);
		return element;
	};

	/* The kinds of items, each with its number and the tone that is its class; bad ones come first. */
	const facetsOf = (list) => {
		const kinds = new Map();
		for (const {dataset: {facet}, className} of list.children) {
			if (facet)
				kinds.set(facet, {count: (kinds.get(facet)?.count ?? 0) + 1, tone: className});
		}
		const order = ['bad', 'warn', 'good', 'quiet'];
		return [...kinds].sort((a, b) => order.indexOf(a[1].tone) - order.indexOf(b[1].tone)).map(([name, {count, tone}]) => {
			const button = make('button', {type: 'button', className: `facet ${tone}`, ariaPressed: 'false'}, `${name} `, make('b', {}, count));
			button.dataset.facet = name;
			return button;
		});
	};

	/* A filter reads the text of its list once, when it is first used, and then touches only items that come or go. */
	const filters = [];
	for (const bar of document.querySelectorAll('.filter')) {
		const list = document.getElementById(bar.dataset.list);
		const name = `Search ${bar.dataset.noun}`;
		const input = make('input', {type: 'search', autocomplete: 'off', spellcheck: false, placeholder: name, ariaLabel: name});
		const output = make('output', {});
		const facets = facetsOf(list);
		bar.append(input, make('div', {className: 'facets', role: 'group', ariaLabel: 'Show only'}, ...facets), output);
		output.textContent = `${facets.reduce((sum, {lastChild}) => sum + Number(lastChild.textContent), 0)} ${bar.dataset.noun}`;
		let items = null;
		/* An item with data-group heads those that follow, and is there while one of them is. */
		const groups = [];
		const read = () => [...list.children].flatMap((node) => {
			if ('group' in node.dataset) {
				groups.push({node, shown: 0});
				return [];
			}
			return [{node, text: node.textContent.toLowerCase(), facet: node.dataset.facet, group: groups.at(-1)}];
		});
		const apply = () => {
			items ??= read();
			const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
			const wanted = new Set(facets.filter((f) => f.ariaPressed === 'true').map((f) => f.dataset.facet));
			let shown = 0;
			groups.forEach((group) => { group.shown = 0; });
			for (const item of items) {
				const hit = (wanted.size === 0 || wanted.has(item.facet)) && words.every((word) => item.text.includes(word));
				shown += hit ? 1 : 0;
				if (hit && item.group)
					item.group.shown++;
				if (item.node.hidden === hit)
					item.node.hidden = !hit;
			}
			groups.forEach((group) => { group.node.hidden = group.shown === 0; });
			output.textContent = shown === items.length ? `${shown} ${bar.dataset.noun}` : `${shown} of ${items.length} ${bar.dataset.noun}`;
		};
		const clear = () => {
			input.value = '';
			facets.forEach((f) => { f.ariaPressed = 'false'; });
			apply();
		};
		bar.addEventListener('input', apply);
		bar.addEventListener('click', (event) => {
			const facet = event.target.closest('.facet');
			if (!facet)
				return;
			facet.ariaPressed = facet.ariaPressed === 'true' ? 'false' : 'true';
			apply();
		});
		bar.addEventListener('keydown', (event) => {
			if (event.key === 'Escape')
				clear();
		});
		filters.push({list, input, clear});
		bar.hidden = false;
	}
	document.addEventListener('keydown', (event) => {
		const typing = event.target.closest?.('input, textarea, select, [contenteditable]');
		if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey || filters.length === 0)
			return;
		event.preventDefault();
		filters[0].input.focus();
	});

	/* What the keyboard reaches in a table that scrolls is shown as a whole. */
	document.addEventListener('focusin', ({target}) => {
		if (target.parentElement?.closest('.wide'))
			target.scrollIntoView({block: 'nearest', inline: 'nearest'});
	});

	/* A link leads to something that may be folded away or filtered out. */
	const reveal = () => {
		const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
		if (!target)
			return;
		const owner = filters.find(({list}) => list.contains(target));
		if (owner && target.closest('[hidden]'))
			owner.clear();
		for (let node = target; node; node = node.parentElement) {
			if (node.tagName === 'DETAILS')
				node.open = true;
		}
		target.querySelector(':scope > details')?.setAttribute('open', '');
		target.scrollIntoView();
		requestAnimationFrame(() => target.scrollIntoView()); /* when what is above it has its height */
	};
	addEventListener('hashchange', reveal);
	if (location.hash)
		reveal();
})();
