import { spawnSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The path of an installed Chromium; without one, tests that need it are skipped. */
export function findChromium(): string | undefined {
  const { stdout } = spawnSync('which', names, { encoding: 'utf8' });
  return stdout?.split('\n')[0] || undefined;
}

export function launchChromium(...args: readonly string[]): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('No Chromium is installed.');
  // Containers let no process make the sandbox's namespaces.
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...args] });
}
