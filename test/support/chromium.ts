import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { projectRoot } from '../../infra/stages/projectRoot.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The path of an installed Chromium; without one, tests that need it are skipped. */
export function findChromium(): string | undefined {
  const { stdout } = spawnSync('which', names, { encoding: 'utf8' });
  return stdout?.split('\n')[0] || undefined;
}

/**
 * Starts a browser, which takes a second of processor time: all test files of a worker share it, and it ends with the
 * worker. Each file closes its own pages.
 */
export function openChromium(): Promise<Browser> {
  opened ??= launch();
  return opened;
}

let opened: Promise<Browser> | undefined;

function launch(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('No Chromium is installed.');
  // Containers let no process make the sandbox's namespaces. No page lives long enough to pay for optimized code.
  const args = ['--no-sandbox', '--js-flags=--no-opt --no-maglev'];
  // Commands that are interrupted in a test's own process must not end the browser, or that process.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  return chromium.launch({ executablePath, args, ...signals });
}

/** axe for a page, in the file of half the size: every page that is checked gets it anew. */
export const axeSource = readFileSync(
  join(projectRoot, 'node_modules/axe-core/axe.min.js'),
  'utf8',
);
