import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';

// Links of the guides are the published site's, and tested there.
const files = globSync(['*', '{.github,functions,infra,shared,test}/**'], {
  cwd: projectRoot,
  exclude: ['**/node_modules', 'infra/docs/guides'],
});

it('every link between the Markdown files leads to a file and a heading', () => {
  const links = files
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      [...readFileSync(join(projectRoot, file), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].map(
        ([, link = '']) => [file, link] as const,
      ),
    );
  const inner = links.filter(([, link]) => !/^https?:/.test(link));
  expect(inner.length).toBeGreaterThan(50);
  const broken = inner.filter(([file, link]) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? join(projectRoot, file) : join(projectRoot, file, '..', path);
    return !existsSync(target) || (anchor !== undefined && !toAnchors(target).includes(anchor));
  });
  expect(broken).toEqual([]);
});

it('every section that a message or a comment names is there', () => {
  const named = files
    .filter((file) => /^(infra|\.github).*\.(ts|yml)$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(projectRoot, file), 'utf8');
      return [...text.matchAll(/"([^"]+)" in (infra\/\w+\.md)/g)].map(
        ([, heading = '', path = '']) => [file, path, toAnchor(heading)],
      );
    });
  expect(named.length).toBeGreaterThanOrEqual(4);
  const missing = named.filter(
    ([, path = '', anchor = '']) => !toAnchors(join(projectRoot, path)).includes(anchor),
  );
  expect(missing).toEqual([]);
});

function toAnchors(path: string): string[] {
  const text = readFileSync(path, 'utf8').replaceAll(/^ *```.*?^ *```/gms, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => toAnchor(heading));
}

/** As GitHub makes it of a heading. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}
