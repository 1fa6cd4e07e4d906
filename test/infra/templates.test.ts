import { expect, it } from 'vitest';
import { buildApp, templatesOnly } from '../../infra/deploy/buildApp.ts';
import { deprecatedOperations } from '../../infra/deploy/watch/logQueries.ts';
import type { Stage } from '../../infra/stages/stages.ts';
import { operationIds } from '../../shared/contract/operations.ts';
import { builtCommit, readDashboards, watchTemplates } from '../support/stackTemplates.ts';
import { changedStage, fixtureNames, fixtures } from '../support/stageFixtures.ts';
import { openTemporaryFolder } from '../support/temporaryFolder.ts';

/** Only these operations are compared, so that a new one changes nothing here: the same loops make the others. */
const held: readonly string[] = ['listInventory', 'updateInventory'];
const others = operationIds.filter((id) => !held.includes(id));
/** Resources that name every route; `gateway.test.ts` checks them. */
const routes = /^AWS::ApiGateway::(Deployment|Resource|Stage)$/;
/** Methods of all paths except one of the contract's and the unknown ones. */
const otherMethods = /^Api(?!inventory[A-Z]|unknownPath)\w+(GET|PATCH|OPTIONS|ANY)[0-9A-F]{8}$/;

const { toPath } = openTemporaryFolder();

type Resource = Readonly<Record<string, unknown>> & { readonly Type: string };

const production = readBlocks('production', fixtures.production);

/**
 * Every property of the resources, so that nobody overlooks a lost or changed one. After an intended change, run
 * `npx vitest run test/infra/templates.test.ts --update` and review the difference.
 */
it.each([
  ['production', production],
  ['staging', readBlocks('staging', fixtures.staging)],
  // Only the differences from production.
  ['changed', readBlocks('changed', changedStage).filter((block) => !production.includes(block))],
])('the templates of %s are the committed ones', async (name, blocks) => {
  await expect(`${blocks.join('\n')}\n`).toMatchFileSnapshot(`templates/${name}.txt`);
});

/** The lines of the dashboards that name no other operation. */
it.each(fixtureNames)('the dashboards of %s are the committed ones', async (stage) => {
  const dashboards = Object.entries(readDashboards(watchTemplates[stage]));
  const lines = dashboards.flatMap(([name, widgets]) => [
    name,
    ...widgets.flatMap(({ title, alarms: _, metrics = [], query, ...options }) => [
      `  ${title}: ${JSON.stringify(options)}`,
      ...metrics.map((row) => `    ${JSON.stringify(row)}`),
      ...(query?.split('\n') ?? []).map((line) => `    ${line}`),
    ]),
  ]);
  // The deprecated one has a widget of its own.
  const left = others.filter((id) => !deprecatedOperations.some((one) => one.id === id));
  const shown = lines.filter((line) => !left.some((id) => line.includes(id)));
  await expect(`${shown.join('\n')}\n`).toMatchFileSnapshot(`templates/${stage}Dashboards.txt`);
});

/** The resources of each stack, and its outputs. */
function readBlocks(name: string, stage: Stage): string[] {
  const app = buildApp({ ...templatesOnly, outdir: toPath(name) }, [stage], builtCommit);
  return app.synth().stacks.flatMap(({ stackName, template, dependencies }) => [
    `${stackName} after ${dependencies
      .map(({ id }) => id)
      .sort()
      .join(', ')}`,
    ...Object.entries<Resource>(template.Resources).flatMap(toBlock),
    ...Object.entries(template.Outputs ?? {}).map(
      ([output, value]) => `  output ${output}: ${JSON.stringify(value)}`,
    ),
  ]);
}

function toBlock([id, resource]: [string, Resource]): string[] {
  const { Type, Properties: _, Metadata: __, ...policies } = resource;
  const Properties = withoutOthers(resource);
  const text = JSON.stringify([id, { ...resource, Properties }]);
  if (routes.test(Type) || otherMethods.test(id) || others.some((other) => text.includes(other)))
    return [];
  const properties = Object.entries({ ...policies, ...Properties });
  const lines = properties.map(([name, value]) => `    ${name}: ${JSON.stringify(value)}`);
  return [withoutHash([`  ${Type} ${id}`, ...lines].join('\n'))];
}

/** An alarm on several operations has only the metrics of the compared ones, and neither text nor expression of all. */
function withoutOthers({ Type, Properties = {} }: Resource): object {
  if (Type !== 'AWS::CloudWatch::Alarm') return Properties as object;
  const isCompared = (value: unknown) =>
    !others.some((other) => JSON.stringify(value).includes(other));
  const { AlarmName, Metrics, ...properties } = Properties as {
    readonly Metrics: object[];
  } & Record<string, unknown>;
  const compared = Metrics.filter(isCompared);
  return {
    ...(AlarmName !== undefined && { AlarmName }),
    ...Object.fromEntries(Object.entries(properties).filter(([, value]) => isCompared(value))),
    Metrics: compared,
  };
}

/** Removes the hashes of assets and versions, which change with each line of a function's code. */
function withoutHash(text: string): string {
  return text.replaceAll(/[0-9a-f]{16,}[0-9A-F]{0,8}/g, 'HASH');
}
