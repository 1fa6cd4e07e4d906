import { readFileSync } from 'node:fs';

/** The commands that a document has its reader type, with names for what stands in capitals there. */
export function readShellLines(path: URL): string[] {
  const blocks = readFileSync(path, 'utf8').matchAll(/^ *```sh\n(.*?)^ *```/gms);
  return [...blocks]
    .flatMap(([, block = '']) => block.replaceAll(/\\\n\s*/g, ' ').split('\n'))
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '')
    .map((line) => line.replaceAll('OPERATION', 'getPet').replaceAll('STAGE', 'production'));
}

/** The words of a line, as a shell reads them. */
export function toWords(line: string): string[] {
  const words = line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g);
  return [...words].map(([, single, double, bare]) => single ?? double ?? bare ?? '');
}
