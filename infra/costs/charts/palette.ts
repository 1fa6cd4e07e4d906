import { type Component, components } from '../model/components.ts';

/** Ink and components, each by its name as a CSS class. */
export type Palette = Readonly<Record<Component | 'page' | 'ink' | 'quiet' | 'grid', string>>;

/**
 * Every colour but the grid's stands out from the page by 4.5:1 or more, as text must, since text of the page's
 * colour lies on the bars (WCAG 2.2, 1.4.3).
 */
export const palettes: Readonly<Record<'light' | 'dark', Palette>> = {
  light: {
    page: '#ffffff',
    ink: '#1c2024',
    quiet: '#59636e',
    grid: '#d5dae0',
    gateway: '#1a5fa0',
    lambda: '#a85100',
    readUnits: '#2a7430',
    writeUnits: '#00716a',
    transfer: '#7b2fa8',
    logs: '#5a6570',
    tracing: '#b81454',
    firewall: '#795548',
  },
  dark: {
    page: '#14171a',
    ink: '#e6e8ea',
    quiet: '#a2abb4',
    grid: '#363c42',
    gateway: '#79b8f3',
    lambda: '#ffb366',
    readUnits: '#8bd48e',
    writeUnits: '#4dd0c0',
    transfer: '#d3a4f0',
    logs: '#b4bec8',
    tracing: '#ff8fb5',
    firewall: '#c9a896',
  },
};

/** A picture in a page knows the reader's scheme, and nothing of the page's own style. */
export function toStyle(): string {
  return [
    'text{font:19px sans-serif;stroke-width:5;paint-order:stroke}',
    '.title{font-size:22px;font-weight:bold}',
    '.small{font-size:17px}',
    '.line{stroke-width:4}',
    toColours(palettes.light),
    `@media(prefers-color-scheme:dark){${toColours(palettes.dark)}}`,
  ].join('\n');
}

function toColours({ grid, ...inks }: Palette): string {
  const fills = Object.entries(inks).map(([name, colour]) => `.${name}{fill:${colour}}`);
  const lines = components.map((name) => `.line.${name}{fill:none;stroke:${inks[name]}}`);
  // A seam of the page's colour keeps text legible where it crosses a line.
  const seams = [`text{stroke:${inks.page}}`, 'text.page{stroke:none}'];
  return [...fills, ...lines, ...seams, `.grid{stroke:${grid}}`].join('');
}
