// The script of every page: the language of samples, copy buttons, the menu and the search. The guides work without it.

const MAX_RESULTS = 10;

/** Of a word, by the part of a search entry that has it. A heading that starts with the word counts twice. */
const POINTS = { heading: 4, keywords: 8, page: 2, text: 1 };

keepLanguage([...document.querySelectorAll('.samples')]);
document.querySelectorAll('.sample').forEach(addCopyButton);
addSearch(document.querySelector('.search'));
unfoldMenu(matchMedia('(width >= 64rem)'), document.querySelector('.side details'));

/** At the side, the menu is always unfolded: assistive software ignores the links of a folded one. */
function unfoldMenu(isWide, menu) {
  const follow = () => menu?.toggleAttribute('open', isWide.matches);
  isWide.addEventListener('change', follow);
  follow();
}

/** Keeps the chosen language for the next page. Each sample gets a group of radio buttons, for its own arrow keys. */
function keepLanguage(samples) {
  const radios = samples.flatMap((sample, number) => {
    const own = [...sample.querySelectorAll('input')];
    for (const radio of own) radio.name = `language-${number}`;
    return own;
  });
  const choose = (language) => {
    for (const radio of radios) radio.checked = radio.value === language;
  };
  choose(readLanguage() ?? radios[0]?.value);
  for (const radio of radios) {
    radio.addEventListener('change', () => {
      choose(radio.value);
      storeLanguage(radio.value);
    });
  }
}

// If the browser stores nothing for this site, the choice is that of this page alone.

function readLanguage() {
  try {
    return localStorage.getItem('language');
  } catch {
    return null;
  }
}

function storeLanguage(language) {
  try {
    localStorage.setItem('language', language);
  } catch {}
}

function addCopyButton(sample) {
  const button = createElement('button', 'Copy');
  button.setAttribute('aria-live', 'polite');
  button.addEventListener('click', async () => {
    const code = sample.querySelector('code');
    try {
      await navigator.clipboard.writeText(code.textContent.trimEnd());
      button.textContent = 'Copied';
    } catch {
      // A page over plain HTTP has no clipboard.
      getSelection().selectAllChildren(code);
      button.textContent = 'Selected';
    }
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
  let loading;

  /** One request for all who wait: a second response would replace the results under the reader's focus. */
  function load() {
    loading ??= fetch('search.json')
      .then((response) => response.json())
      .finally(() => {
        loading = undefined;
      });
    return loading;
  }

  async function show() {
    try {
      entries ??= await load();
    } catch {
      status.textContent = 'The search cannot be loaded.';
      return;
    }
    const words = box.value.toLowerCase().match(/\S+/g) ?? [];
    const asTyped = find(entries, words);
    const found = asTyped.length > 0 ? asTyped : find(entries, words.map(toStem));
    const results = found.slice(0, MAX_RESULTS);
    list.replaceChildren(...results.map((entry) => renderResult(entry, words[0])));
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
  search.addEventListener('keydown', async (event) => {
    const { key } = event;
    const stops = [box, ...list.querySelectorAll('a')];
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (step !== undefined) {
      event.preventDefault();
      stops.at((stops.indexOf(document.activeElement) + step) % stops.length).focus();
    }
    if (key === 'Escape') {
      box.focus();
      close();
    }
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
    .map((entry) => ({ ...entry, points: scoreEntry(entry, words) }))
    .filter(({ points }) => points > 0)
    .sort((one, other) => other.points - one.points);
}

/** Without the ending of a plural or a verb, such as "expir" of "expired". */
function toStem(word) {
  return word.replace(/(?<=\w{3})(?:ing|e?s|e?d)$/, '');
}

function scoreEntry(entry, words) {
  const points = words.map((word) => {
    const parts = Object.keys(POINTS).filter((part) => entry[part]?.toLowerCase().includes(word));
    const isStart = entry.heading.toLowerCase().startsWith(word);
    return parts.reduce((sum, part) => sum + POINTS[part], isStart ? POINTS.heading : 0);
  });
  return points.includes(0) ? 0 : points.reduce((sum, each) => sum + each, 0);
}

function renderResult({ page, heading, text, address }, word) {
  const at = Math.max(text.toLowerCase().indexOf(word), 0);
  const start = text.lastIndexOf(' ', Math.max(at - 30, 0)) + 1;
  const rest = text.slice(start);
  const excerpt = rest.length > 90 ? `${rest.slice(0, 90)}…` : rest;
  const link = createElement('a');
  link.href = address;
  link.append(createElement('span', heading), createElement('small', `${page}: ${excerpt}`));
  const item = createElement('li');
  item.append(link);
  return item;
}

function createElement(name, text = '') {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}
