import { toStyle } from './palette.ts';

/** Every chart is as wide, in pixels; text is large enough to be read at half of that. */
export const WIDTH = 720;

/** What a reader who sees no picture gets, and the picture. */
interface Chart {
  readonly title: string;
  readonly description: string;
  readonly height: number;
  readonly shapes: readonly string[];
}

/** A document of its own, which brings its page along: what it is put into may be of the other scheme. */
export function toSvg({ title, description, height, shapes }: Chart): string {
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}">`,
    `<title id="title">${toMarkup(title)}</title>`,
    `<desc id="desc">${toMarkup(description)}</desc>`,
    `<style>${toStyle()}</style>`,
    `<rect class="page" width="${WIDTH}" height="${height}"/>`,
    ...shapes,
    '</svg>',
  ];
  return `${lines.join('\n')}\n`;
}

interface TextOptions {
  /** Classes: `ink` unless another is named. */
  readonly classes?: string;
  readonly anchor?: 'start' | 'middle' | 'end';
}

export function toText(
  x: number,
  y: number,
  text: string,
  { classes = 'ink', anchor = 'start' }: TextOptions = {},
): string {
  const place = anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  return `<text class="${classes}" x="${round(x)}" y="${round(y)}"${place}>${toMarkup(text)}</text>`;
}

export function toRect(classes: string, x: number, y: number, width: number, height: number) {
  return `<rect class="${classes}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"/>`;
}

export function toLine(
  classes: string,
  points: readonly (readonly [x: number, y: number])[],
): string {
  const path = points.map(([x, y]) => `${round(x)} ${round(y)}`).join('L');
  return `<path class="${classes}" d="M${path}"/>`;
}

/** So many pixels at most, in any font that a reader is likely to have. */
export function toTextWidth(text: string, size: number): number {
  return text.length * size * 0.58;
}

function round(number: number): string {
  return String(Math.round(number * 10) / 10);
}

function toMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
