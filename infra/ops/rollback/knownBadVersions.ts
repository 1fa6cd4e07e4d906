import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import type { LiveFunction, PublishedVersion } from '../../cli/liveFunctions.ts';
import { log } from '../../cli/output.ts';
import { readParameter } from '../../cli/parameterStore.ts';
import type { OpenStage } from '../../cli/stageStack.ts';
import { toNames } from '../../stages/resourceNames.ts';
import type { Move } from './aliases.ts';

/** The numbers of the versions that were rolled back, by operation. Lambda uses no number twice. */
export type KnownBadVersions = Readonly<Partial<Record<OperationId, readonly number[]>>>;

export async function readKnownBadVersions(stage: OpenStage): Promise<KnownBadVersions> {
  return JSON.parse((await readParameter(stage, toNames(stage.stage).knownBadParameter)) ?? '{}');
}

/** The versions with code that was rolled back, under any number. */
export function findKnownBad(
  functions: readonly LiveFunction[],
  knownBad: KnownBadVersions,
): Set<PublishedVersion> {
  const found = functions.flatMap(({ operationId, versions }) => {
    const marked = versions.filter(({ version }) => knownBad[operationId]?.includes(version));
    return versions.filter(({ code }) => marked.some((one) => one.code === code));
  });
  return new Set(found);
}

/**
 * Adds the versions that the moves leave for older ones, and removes those with the code that the moves go to. A
 * rollback also succeeds if this fails.
 */
export async function recordKnownBadVersions(
  { stage, open }: OpenStage,
  knownBad: KnownBadVersions,
  moves: readonly Move[],
): Promise<void> {
  const noted = { ...knownBad };
  for (const { from, to } of moves) {
    const { operationId, live, versions } = from;
    const isNoted = (one: PublishedVersion) =>
      knownBad[operationId]?.includes(one.version) || (one === live && one.version > to.version);
    noted[operationId] = versions
      .filter((one) => isNoted(one) && one.code !== to.code)
      .map(({ version }) => version);
  }
  const Name = toNames(stage).knownBadParameter;
  const Value = JSON.stringify(noted);
  try {
    const command = new PutParameterCommand({ Name, Value, Type: 'String', Overwrite: true });
    await open(SSMClient).send(command);
  } catch (error) {
    log(
      `${Name} does not name the known-bad versions, and a later rollback may offer them: ${toErrorLine(error)}`,
    );
  }
}
