// The script of every page: tabs, copy buttons and the search. The guides work without it.

/** The key in localStorage of the language that the reader chose last. */
const CHOICE = 'language';

const MAX_RESULTS = 10;

/** For a word in each part of an entry of the search. At the start of its heading, those of the heading count twice. */
const POINTS = { heading: 4, keywords: 8, page: 2, text: 1 };

const groups = [...document.querySelectorAll('.tabs')].map(addTabs);
select(readChoice());
if (navigator.clipboard) document.querySelectorAll('.sample').forEach(addCopyButton);
addSearch(document.querySelector('.search'));
unfoldMenu(matchMedia('(width >= 64rem)'), document.querySelector('.side details'));

/** At the side, the menu is shown as a whole. Folded, its links would be none for assistive software. */
function unfoldMenu(isWide, menu) {
  const follow = () => menu?.toggleAttribute('open', isWide.matches);
  isWide.addEventListener('change', follow);
  follow();
}

/** Tabs as in https://www.w3.org/WAI/ARIA/apg/patterns/tabs/, one for each block of the group. */
function addTabs(group, number) {
  const panels = [...group.children];
  const list = createElement('div', { role: 'tablist', 'aria-label': 'Language' });
  const tabs = panels.map((panel, index) => {
    const caption = panel.querySelector('figcaption');
    const [id, panelId] = [`tab-${number}-${index}`, `panel-${number}-${index}`];
    const attributes = { id, role: 'tab', 'aria-controls': panelId };
    const tab = createElement('button', attributes, caption.textContent);
    tab.addEventListener('click', () => choose(tab.textContent));
    setAttributes(panel, { id: panelId, role: 'tabpanel', 'aria-labelledby': id });
    caption.remove();
    return tab;
  });
  list.addEventListener('keydown', (event) => {
    const next = toNextTab(tabs, event);
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
    next.click();
  });
  list.append(...tabs);
  group.prepend(list);
  group.classList.add('ready');
  return { tabs, panels };
}

/** The tab that a key press leads to. */
function toNextTab(tabs, { key, target }) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (step !== undefined) return tabs.at((tabs.indexOf(target) + step) % tabs.length);
  return { Home: tabs[0], End: tabs.at(-1) }[key];
}

function choose(language) {
  select(language);
  // If the browser stores nothing for this site, the choice holds on this page only.
  try {
    localStorage.setItem(CHOICE, language);
  } catch {}
}

function readChoice() {
  try {
    return localStorage.getItem(CHOICE);
  } catch {
    return null;
  }
}

/** Shows a language in every group. A group without it shows its first. */
function select(language) {
  for (const { tabs, panels } of groups) {
    const index = tabs.findIndex((tab) => tab.textContent === language);
    const selected = Math.max(index, 0);
    tabs.forEach((tab, each) => {
      tab.setAttribute('aria-selected', each === selected);
      tab.tabIndex = each === selected ? 0 : -1;
      panels[each].hidden = each !== selected;
    });
  }
}

function addCopyButton(sample) {
  const button = createElement('button', { class: 'copy', 'aria-live': 'polite' }, 'Copy');
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(sample.querySelector('pre').textContent.trimEnd());
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2_000);
  });
  sample.append(button);
}

function addSearch(search) {
  const box = search.querySelector('input');
  const status = search.querySelector('[role="status"]');
  const list = search.querySelector('ol');
  let entries;

  async function show() {
    try {
      entries ??= await (await fetch('search.json')).json();
    } catch {
      status.textContent = 'The search cannot be loaded.';
      return;
    }
    const words = box.value.toLowerCase().match(/\S+/g) ?? [];
    const found = find(entries, words);
    const results = found.slice(0, MAX_RESULTS);
    list.replaceChildren(...results.map((entry) => toResult(entry, words[0])));
    status.textContent =
      box.value.trim() && (results.length > 0 ? `Results: ${found.length}` : 'Nothing found');
  }

  function close() {
    list.replaceChildren();
    status.textContent = '';
  }

  box.addEventListener('input', show);
  box.addEventListener('focus', show);
  document.addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    const isTyping = target.isContentEditable || target.matches('input, textarea, select');
    if (key !== '/' || isTyping || ctrlKey || metaKey || altKey) return;
    event.preventDefault();
    box.focus();
  });
  search.addEventListener('keydown', async ({ key }) => {
    if (key === 'Escape') close();
    if (key !== 'Enter' || document.activeElement !== box) return;
    await show();
    list.querySelector('a')?.click();
  });
  document.addEventListener('click', ({ target }) => {
    if (target !== box) close();
  });
  search.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget && !search.contains(relatedTarget)) close();
  });
}

/** The entries with every word, the best first. */
function find(entries, words) {
  return entries
    .map((entry) => ({ ...entry, points: toPoints(entry, words) }))
    .filter(({ points }) => points > 0)
    .sort((one, other) => other.points - one.points);
}

function toPoints(entry, words) {
  const points = words.map((word) => {
    const parts = Object.keys(POINTS).filter((part) => entry[part]?.toLowerCase().includes(word));
    const isStart = entry.heading.toLowerCase().startsWith(word);
    return parts.reduce((sum, part) => sum + POINTS[part], isStart ? POINTS.heading : 0);
  });
  return points.includes(0) ? 0 : points.reduce((sum, each) => sum + each, 0);
}

function toResult({ page, heading, text, address }, word) {
  const at = Math.max(text.toLowerCase().indexOf(word), 0);
  const start = text.lastIndexOf(' ', Math.max(at - 30, 0)) + 1;
  const rest = text.slice(start);
  const excerpt = rest.length > 90 ? `${rest.slice(0, 90)}…` : rest;
  const link = createElement('a', { href: address });
  link.append(
    createElement('span', {}, heading),
    createElement('small', {}, `${page}: ${excerpt}`),
  );
  const item = createElement('li');
  item.append(link);
  return item;
}

function createElement(name, attributes = {}, text = '') {
  const element = document.createElement(name);
  setAttributes(element, attributes);
  element.textContent = text;
  return element;
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}
