import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import { axeSource } from './chromium.ts';

export const phone = { width: 375, height: 800 };
/** So low that the menu at the side scrolls. */
export const desk = { width: 1280, height: 720 };

/** The rules that Scalar's own elements break. */
export const brokenByScalar = [
  ...['button-name', 'nested-interactive'],
  ...['landmark-no-duplicate-banner', 'landmark-unique'],
];

/** Collects requests to other servers, and what the browser reports, such as a violation of a page's policy. */
export function watchPage(page: Page, origin: string): string[] {
  const found: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) found.push(message.text());
  });
  page.on('pageerror', ({ message }) => found.push(message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) found.push(`a request to ${request.url()}`);
  });
  return found;
}

/** By how many pixels the page is wider than its window. */
export async function measureOverflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - innerWidth');
}

/**
 * What axe finds in a page.
 * @param ignored the rules that it does not check
 */
export async function findViolations(
  page: Page,
  colorScheme: 'light' | 'dark',
  ignored: readonly string[] = [],
): Promise<string[]> {
  await page.emulateMedia({ colorScheme });
  await waitUntilStill(page, colorScheme);
  const rules = Object.fromEntries(ignored.map((id) => [id, { enabled: false }]));
  // The schemes differ only in colours.
  const checked = colorScheme === 'light' ? { rules } : { runOnly: ['color-contrast'] };
  const options = JSON.stringify({ ...checked, resultTypes: ['violations'] });
  await page.evaluate(`globalThis.axe ?? (() => { ${axeSource} })()`);
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${options})`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
}

/**
 * Scalar changes its theme after the media, and inherited colours then change one element a frame. axe measures no
 * contrast on a table's shadows.
 */
async function waitUntilStill(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.evaluate(`document.fonts.ready.then(async () => {
    const style = new CSSStyleSheet();
    style.replaceSync('*, ::before, ::after { transition-property: none !important } .wide { background: none !important }');
    document.adoptedStyleSheets = [style];
    const { classList } = document.body;
    const isOther = () => classList.contains('${colorScheme === 'dark' ? 'light' : 'dark'}-mode');
    for (let frames = 0; frames < 2; frames++) {
      await new Promise(requestAnimationFrame);
      if (isOther() || document.getAnimations().length > 0) frames = 0;
    }
  })`);
}
