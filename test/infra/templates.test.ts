import { expect, it } from 'vitest';
import { operationIds } from '../../shared/contract/operations.ts';
import {
  type BuiltStack,
  built,
  readDashboards,
  synthesizeStages,
  watchTemplates,
} from '../support/stackTemplates.ts';
import { changedStage, type FixtureName } from '../support/stageFixtures.ts';

/** Only these operations are compared, so that a new one changes nothing here: the same loops make the others. */
const held: readonly string[] = ['listInventory', 'updateInventory'];
const others = operationIds.filter((id) => !held.includes(id));
const isOfOthers = (value: unknown) => others.some((id) => JSON.stringify(value).includes(id));
/** Resources that name every route; `gateway.test.ts` checks them. */
const routes = /^AWS::ApiGateway::(Deployment|Resource|Stage)$/;
/** Methods of all paths except one of the contract's and the unknown ones. */
const otherMethods = /^Api(?!inventory[A-Z]|unknownPath)\w+(GET|PATCH|OPTIONS|ANY)[0-9A-F]{8}$/;

/** What is recorded of a stack: the properties of each resource, by type and name. */
type Types = Readonly<Record<string, Readonly<Record<string, Properties>>>>;
type Properties = Readonly<Record<string, string>>;

const production = readStacks(built.production.stacks);
const inProduction = (text: string) => text.replaceAll('petstore-staging', 'petstore-production');

/**
 * Every property of the resources, so that nobody overlooks a lost or changed one. After an intended change, run
 * `npx vitest run test/infra/templates.test.ts --update` and review the difference. `watch/alarms.test.ts` has the
 * alarms.
 */
it('the templates are the committed ones', async () => {
  const known = toDashboardLines('production');
  const dashboards = toDashboardLines('staging').map(inProduction);
  const changed = synthesizeStages([changedStage]).production.stacks;
  const parts = {
    production: [...toLines(production), ...known],
    'staging, where it differs': [
      ...toDifferences(readStacks(built.staging.stacks, inProduction)),
      ...dashboards.filter((line) => !known.includes(line)),
    ],
    'production with every setting changed, where it differs': toDifferences(readStacks(changed)),
  };
  const text = Object.entries(parts).map(([name, lines]) => `# ${name}\n${lines.join('\n')}\n`);
  await expect(text.join('\n')).toMatchFileSnapshot('templates.txt');
});

/** The resources of each stack, and its outputs. */
function readStacks(
  stacks: readonly BuiltStack[],
  rename = (text: string) => text,
): Record<string, Types> {
  const found = stacks.map(({ name, after, template: { Resources, Outputs = {} } }) => {
    const types: Record<string, Record<string, Properties>> = {
      Stack: { '': { after: after.join(', ') } },
      Outputs: { '': mapValues(Outputs, (output) => JSON.stringify(output)) },
    };
    for (const [id, resource] of Object.entries(Resources ?? {}) as [string, Resource][]) {
      const { Type, Properties = {}, Metadata: _, ...policies } = resource;
      const isAlarm = Type === 'AWS::CloudWatch::Alarm';
      if (isAlarm && /-watch$/.test(name)) continue;
      const own = isAlarm ? withoutOthers(Properties) : Properties;
      if (isAlarm && String(own.Metrics) === '') continue;
      if (routes.test(Type) || otherMethods.test(id) || isOfOthers([id, own])) continue;
      types[Type] ??= {};
      expect(types[Type]).not.toHaveProperty([toName(id)]);
      types[Type][toName(id)] = mapValues({ ...policies, ...own }, (value) =>
        rename(withoutHash(JSON.stringify(value))),
      );
    }
    return [rename(name), JSON.parse(rename(JSON.stringify(types)))];
  });
  return Object.fromEntries(found);
}

type Resource = Readonly<Record<string, unknown>> & {
  readonly Type: string;
  readonly Properties?: Record<string, unknown>;
};

/** An alarm on two operations has only the metrics of the compared one, and no text that names the other. */
function withoutOthers(properties: Record<string, unknown>): Record<string, unknown> {
  const own = mapValues(properties, (value) =>
    Array.isArray(value) ? value.filter((one) => !isOfOthers(one)) : value,
  );
  return Object.fromEntries(Object.entries(own).filter(([, value]) => !isOfOthers(value)));
}

function mapValues<Value, Result>(record: Record<string, Value>, map: (value: Value) => Result) {
  const mapped = Object.entries(record).map(([name, value]) => [name, map(value)]);
  return Object.fromEntries(mapped) as Record<string, Result>;
}

/** Without the hashes of its content and of its path, and without the stage's name. */
function toName(id: string): string {
  return withoutHash(id).replace(/petstore\w+?Api[0-9A-F]{8}|[0-9A-F]{8}$/g, '');
}

/** Removes the hashes of assets and versions, which change with each line of a function's code. */
function withoutHash(text: string): string {
  return text.replaceAll(/[0-9a-f]{16,}[0-9A-F]{0,8}/g, 'HASH');
}

/** By type, each value of a property once; behind it the resources that have it, unless all have. */
function toLines(stacks: Record<string, Types>): string[] {
  return Object.entries(stacks).flatMap(([name, types]) => [
    name,
    ...Object.entries(types).flatMap(([type, resources]) => {
      const ids = Object.keys(resources);
      const values = Object.entries(resources).flatMap(([id, properties]) =>
        Object.entries(properties).map(([property, value]) => [`${property}: ${value}`, id]),
      );
      const byValue = Map.groupBy(values, ([line]) => line);
      const lines = [...byValue].map(([line, having]) => {
        const some = having.map(([, id]) => id).join(', ');
        return `    ${line}${having.length < ids.length ? `  (${some})` : ''}`;
      });
      return lines.length > 0 ? [`  ${type} ${ids.join(', ')}`.trimEnd(), ...lines] : [];
    }),
  ]);
}

/** The properties that production lacks or has otherwise, and the resources that only production has. */
function toDifferences(stacks: Record<string, Types>): string[] {
  const changed: Record<string, Record<string, Record<string, Properties>>> = {};
  for (const [name, types] of Object.entries(stacks)) {
    const own: Record<string, Record<string, Properties>> = {};
    for (const [type, resources] of Object.entries(types)) {
      for (const [id, properties] of Object.entries(resources)) {
        const base = production[name]?.[type]?.[id];
        const others = Object.entries(properties).filter(([key, value]) => base?.[key] !== value);
        const lost = Object.keys(base ?? {}).filter((key) => !(key in properties));
        const all = [...others, ...lost.map((key) => [key, 'none'])];
        if (all.length > 0) own[type] = { ...own[type], [id]: Object.fromEntries(all) };
      }
    }
    const missing = Object.entries(production[name] ?? {}).flatMap(([type, resources]) => {
      const ids = Object.keys(resources).filter((id) => !types[type]?.[id]);
      return ids.length > 0 ? [[type, ids.join(', ')]] : [];
    });
    own.Missing = { '': Object.fromEntries(missing) };
    changed[name] = own;
  }
  return toLines(changed);
}

/** The lines of the dashboards that name no other operation. */
function toDashboardLines(stage: FixtureName): string[] {
  const dashboards = Object.entries(readDashboards(watchTemplates[stage]));
  const lines = dashboards.flatMap(([name, widgets]) => [
    `dashboard ${name}`,
    ...widgets.flatMap(({ title, alarms: _, metrics = [], query, ...options }) => [
      `  ${title}: ${JSON.stringify(options)}`,
      ...metrics.map((row) => `    ${JSON.stringify(row)}`),
      ...(query?.split('\n') ?? []).map((line) => `    ${line}`),
    ]),
  ]);
  return lines.filter((line) => !isOfOthers(line));
}
