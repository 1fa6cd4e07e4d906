import { globSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { toOperationCosts } from '../../../infra/costs/bills/costReport.ts';
import { toStagePricing } from '../../../infra/costs/bills/monthlyBill.ts';
import { toOperationFacts } from '../../../infra/docs/facts/contractFacts.ts';
import { fillPlaceholders, guideNames, renderGuide } from '../../../infra/docs/guide.ts';
import type { Site } from '../../../infra/docs/page.ts';
import { buildSite } from '../../../infra/docs/site.ts';
import { stageNames, stages, stagesForClients } from '../../../infra/stages/stages.ts';
import { type ErrorCode, statusOfCode } from '../../../shared/contract/errorBody.ts';
import { NotFound } from '../../../shared/contract/errors.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { entryPetId } from '../../../shared/contract/parameters.ts';

let site: Site;
beforeAll(async () => {
  site = await buildSite();
});

function read(name: string): string {
  return String(site.get(`${name}.html`)?.body);
}

/** What stands under a heading, up to the next one of its level. */
function readSection(name: string, anchor: string): string {
  const [, section = ''] = read(name).split(`<h2 id="${anchor}">`);
  return section.split('<h2')[0] ?? '';
}

test('every guide is offered', () => {
  const files = globSync('*.md', { cwd: `${import.meta.dirname}/../../../infra/docs/guides` });
  expect(files.sort()).toEqual(guideNames.map((name) => `${name}.md`).sort());
});

test.each(Object.entries(statusOfCode))(
  'the code %s has a section with its status',
  (code, status) => {
    expect(readSection('errors', code)).toContain(`Status <strong>${status}</strong>`);
  },
);

test('an error is told in the words of the service, with who answers it', () => {
  const section = readSection('errors', 'not_found' satisfies ErrorCode);
  expect(section).toContain(`“${new NotFound(entryPetId, 7n).message}”`);
  expect(section).toContain('“There is nothing at this path.”');
  const answering = operationIds.filter((id) =>
    (operations[id] as Operation).errors.includes('not_found'),
  );
  const names = answering.map((id) => `<code>${id}</code>`).join(', ');
  expect(section).toContain(`from ${names}.`);
  expect(readSection('errors', 'unauthorized')).toContain('from every operation');
  expect(readSection('errors', 'too_many_requests')).toContain('at any path');
});

test.each(stageNames)('the address and every throttle of %s are told', (name) => {
  expect(read('limits')).toContain('<td>6 MB</td>');
  const { baseAddress, throttles } = stages[name].settings;
  expect(read('index')).toContain(`<code>${baseAddress}</code>`);
  for (const [id, { rate, burst }] of Object.entries(throttles)) {
    const label = id === 'other' ? 'all else' : `<code>${id}</code>`;
    const [, row = ''] = read('limits').split(`<td>${label}</td>`);
    const cells = [...(row.split('</tr>')[0] ?? '').matchAll(/<td>(\d+)<\/td>/g)];
    const numbers = cells.map(([, number]) => Number(number));
    const column = 2 * stagesForClients.indexOf(stages[name]);
    expect(numbers.slice(column, column + 2)).toEqual([rate, burst]);
  }
});

test('every operation is told with its level', () => {
  for (const { operationId, path, lifecycle } of Object.values<Operation>(operations)) {
    const [, row = ''] = read('index').split(`<code>${operationId}</code></a></td>`);
    const [cells = ''] = row.split('</tr>');
    expect(cells).toContain(path);
    expect(cells).toContain(lifecycle.kind);
  }
});

describe('a deprecated operation', () => {
  const deprecated = Object.values<Operation>(operations).flatMap(({ operationId, lifecycle }) =>
    lifecycle.kind === 'deprecated' ? [{ operationId, lifecycle }] : [],
  );

  test.each(deprecated)('$operationId has the section that its Link leads to', ({ lifecycle }) => {
    const [page = '', anchor = ''] = lifecycle.guide.split('#');
    const section = readSection(page.replace('.html', ''), anchor);
    for (const instant of [lifecycle.since, lifecycle.sunset]) {
      expect(section).toContain(`<strong>${instant.toISOString().slice(0, 10)}</strong>`);
    }
  });

  test('has its headers shown as they are sent', () => {
    const { documentationAddress } = stages.production.settings;
    expect(read('deprecations')).toContain(
      `Deprecation: @1796083200\nSunset: Wed, 01 Dec 2027 00:00:00 GMT\nLink: &lt;${documentationAddress}/deprecations.html#getPet&gt;; rel=&quot;deprecation&quot;`,
    );
  });
});

test('a placeholder is replaced wherever it stands; one that is not known fails the build', () => {
  const facts = { limit: () => '5', double: (text: string) => (text === '2' ? '4' : undefined) };
  expect(fillPlaceholders('{{limit}} `{{limit}}` {{double 2}}', facts)).toBe('5 `5` 4');
  for (const unknown of ['{{limits}}', '{{double 3}}', '{{toString}}', '{{ limit}}']) {
    expect(() => fillPlaceholders(`# a\n${unknown}`, facts)).toThrow(unknown);
  }
  for (const name of guideNames) expect(read(name), name).not.toContain('{{');
  const { deprecation } = toOperationFacts('');
  expect(() => deprecation?.('listOrders')).toThrow('listOrders is not deprecated.');
});

test('a heading has an anchor: a name in code as it is, any other in lower case', () => {
  const { title, html } = renderGuide('guide', '# A guide\n## `getPet`\n## 2 “big” lists');
  expect(title).toBe('A guide');
  expect([...html.matchAll(/id="([^"]+)"/g)].map(([, id]) => id)).toEqual([
    'a-guide',
    'getPet',
    '2-big-lists',
  ]);
});

test('what requests cost is told as the model has it, and what a shop does not ask for is left out', () => {
  const rows = [...read('costs').matchAll(/<tr>\s*<td>(\w+)<\/td>\s*<td>([^<]*)<\/td>/g)];
  const answers = rows.map(([, id, answer]) => `${id} ${answer}`);
  expect(answers).toContain('listInventory 200 gzip');
  expect(answers).toContain('getPet 401');
  expect(answers.join()).not.toMatch(/429|412|400/);
  const pricing = toStagePricing(stages.production.settings, 1);
  const costs = toOperationCosts(pricing, [1_000]);
  const pet = costs.find(({ operationId, answer }) => operationId === 'getPet' && answer === '200');
  expect(read('costs')).toContain(`<strong>${pet?.dollarsPerMillion.toFixed(2)}</strong>`);
});
