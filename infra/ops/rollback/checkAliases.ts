import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetAliasCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ignoring, NoStackError, openStage } from '../../cli/stageStack.ts';
import { UsageError } from '../../cli/usage.ts';
import { hasStack, listStacks, liveAlias, toNames } from '../../stages/resourceNames.ts';
import { type Stage, stages } from '../../stages/stages.ts';
import { findAliases, readStackAliases, type Template } from './stackTemplate.ts';

/**
 * Refuses a deployment that would move an alias from another version than the one that serves, as after a rollback that
 * left the stack. It must run before CloudFormation begins. If a hook refused, CloudFormation would go back to its last
 * template, and so to the version that was rolled back.
 * @param next the service's template that is to be deployed
 * @throws {Error} with one line on what differs, and what to type
 */
export async function checkAliases(stage: Stage, next: Template): Promise<void> {
  const opened = await openStage(stage).catch((error) => {
    if (!(error instanceof NoStackError)) throw error;
  });
  // The first deployment moves nothing.
  if (!opened) return;
  const { name, status, open } = opened;
  // The CDK would first take all of it back to its template before, as after a rollback that could not finish.
  const isFailed = 'value' in status && status.value === 'UPDATE_FAILED';
  const { aliases } = await readStackAliases(open(CloudFormationClient), stage, name);
  const planned = new Map(
    findAliases(stage, next).map(({ operationId, version }) => [operationId, version]),
  );
  for (const { operationId, version, number: from } of aliases) {
    const to = planned.get(operationId);
    // A function that the template leaves out, or names the same version of, is not moved.
    if (!isFailed && (to === undefined || to === version)) continue;
    const FunctionName = toNames(stage).toFunction(operationId);
    const read = new GetAliasCommand({ FunctionName, Name: liveAlias });
    const alias = await ignoring('ResourceNotFoundException', open(LambdaClient).send(read));
    const live = Number(alias?.FunctionVersion);
    // A new function has no version yet.
    if (!alias || (live === from && !isFailed)) continue;
    const reason = isFailed
      ? `the stack ${name} is UPDATE_FAILED, and the CDK would first take it back to the versions before`
      : `version ${live} of ${operationId} serves, but the stack ${name} names version ${from}, from which a canary would start`;
    throw new Error(
      `Nothing was deployed: ${reason}. Bring the stack in line: npx petstore rollback --stage ${stage.name} --to ${operationId}=${live}`,
    );
  }
}

/**
 * Checks what a deployment of these stacks would move. That of a watch stack includes the service's.
 * @param folder with the synthesized templates
 * @param names as for `cdk deploy`, with patterns and options
 * @throws {Error} as `checkAliases`
 */
export async function checkStacks(folder: string, names: readonly string[]): Promise<void> {
  for (const stage of findStages(names)) {
    const template = readFileSync(join(folder, `${toNames(stage).stack}.template.json`), 'utf8');
    await checkAliases(stage, JSON.parse(template));
  }
}

/** The stages with a stack that is to be deployed. @param names as for `cdk deploy`, with options */
function findStages(names: readonly string[]): Stage[] {
  const isNamed = (stage: Stage) => names.some((name) => hasStack(stage, name));
  return Object.values(stages).filter((stage) => names.includes('--all') || isNamed(stage));
}

/**
 * @param typed the words behind `npm run deploy`
 * @throws {UsageError} if there is no such stack: a name that is wrong fails before anything is built
 */
export function chooseStages(typed: readonly string[]): Stage[] {
  const all = Object.values(stages);
  const firstOption = typed.findIndex((one) => one.startsWith('-'));
  // Behind an option, a word may be its value.
  const names = typed.slice(0, firstOption < 0 ? undefined : firstOption);
  const unknown = names.find((name) => !all.some((stage) => hasStack(stage, name)));
  const chosen = findStages(typed);
  if (unknown === undefined && chosen.length > 0) return chosen;
  const wrong = unknown === undefined ? 'no stack is named' : `"${unknown}" is no stack`;
  const known = all.flatMap(listStacks).join(', ');
  throw new UsageError(`Nothing was deployed: ${wrong}. The stacks are ${known}.`);
}
