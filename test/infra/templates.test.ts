import { expect, it } from 'vitest';
import { buildApp } from '../../infra/buildApp.ts';
import type { Stage } from '../../infra/stages/stages.ts';
import { operationIds } from '../../shared/contract/operations.ts';
import { builtCommit } from '../support/stackTemplates.ts';
import { changedStage, fixtures } from '../support/stageFixtures.ts';
import { openTemporaryFolder } from '../support/temporaryFolder.ts';

/** The operations whose resources are held, so that a new one changes nothing here: others are made by the same loops. */
const held: readonly string[] = ['listInventory', 'updateInventory'];
const others = operationIds.filter((id) => !held.includes(id));
/** What names every route, which `gateway.test.ts` looks at. */
const routes = /^AWS::ApiGateway::(Deployment|Resource|Stage)$/;
/** Of the paths, one of the contract's, all others, and none in between. */
const otherMethods = /^Api(?!inventory[A-Z]|unknownPath)\w+(GET|PATCH|OPTIONS|ANY)[0-9A-F]{8}$/;

const { toPath } = openTemporaryFolder();

type Resource = Readonly<Record<string, unknown>> & { readonly Type: string };

const production = readBlocks('production', fixtures.production);

/**
 * Every property of the resources, so that none is lost or changed unseen. A change that is meant is written down
 * by `npx vitest run test/infra/templates.test.ts --update`; look at what it changes.
 */
it.each([
  ['production', production],
  ['staging', readBlocks('staging', fixtures.staging)],
  // Only what is other than production's.
  ['changed', readBlocks('changed', changedStage).filter((block) => !production.includes(block))],
])('the templates of %s are the committed ones', async (name, blocks) => {
  await expect(`${blocks.join('\n')}\n`).toMatchFileSnapshot(`templates/${name}.txt`);
});

/** The resources of each stack, and its outputs. */
function readBlocks(name: string, stage: Stage): string[] {
  const context = { 'aws:cdk:bundling-stacks': [] };
  const app = buildApp({ outdir: toPath(name), context }, [stage], builtCommit);
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
  const { Type, Properties = {}, Metadata: _, ...policies } = resource;
  const text = JSON.stringify([id, resource]);
  if (routes.test(Type) || otherMethods.test(id) || others.some((other) => text.includes(other)))
    return [];
  const properties = Object.entries({ ...policies, ...(Properties as object) });
  const lines = properties.map(([name, value]) => `    ${name}: ${JSON.stringify(value)}`);
  return [withoutHash([`  ${Type} ${id}`, ...lines].join('\n'))];
}

/** Of assets and of versions, which are others with each line of a function's code. */
function withoutHash(text: string): string {
  return text.replaceAll(/[0-9a-f]{32,}/g, 'HASH');
}
