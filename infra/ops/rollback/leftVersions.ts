import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import type { LiveFunction, PublishedVersion } from '../../cli/liveFunctions.ts';
import { tell } from '../../cli/output.ts';
import { readParameter } from '../../cli/parameterStore.ts';
import type { OpenStage } from '../../cli/stageStack.ts';
import { toNames } from '../../stages/resourceNames.ts';
import type { Move } from './aliases.ts';

/** The numbers of the versions that roll-backs have left, by operation. Lambda uses no number twice. */
export type LeftVersions = Readonly<Partial<Record<OperationId, readonly number[]>>>;

export async function readLeftVersions(stage: OpenStage): Promise<LeftVersions> {
  return JSON.parse(
    (await readParameter(stage, toNames(stage.stage).leftVersionsParameter)) ?? '{}',
  );
}

/** The versions whose code roll-backs have left, under any number. */
export function findLeft(
  functions: readonly LiveFunction[],
  left: LeftVersions,
): Set<PublishedVersion> {
  const found = functions.flatMap(({ operationId, versions }) => {
    const marked = versions.filter(({ version }) => left[operationId]?.includes(version));
    return versions.filter(({ code }) => marked.some((one) => one.code === code));
  });
  return new Set(found);
}

/**
 * Adds the versions that the moves leave for older ones, and removes those with the code that the moves go to. A
 * roll-back also succeeds if this fails.
 */
export async function noteLeftVersions(
  { stage, open }: OpenStage,
  left: LeftVersions,
  moves: readonly Move[],
): Promise<void> {
  const noted = { ...left };
  for (const { from, to } of moves) {
    const { operationId, live, versions } = from;
    const isNoted = (one: PublishedVersion) =>
      left[operationId]?.includes(one.version) || (one === live && one.version > to.version);
    noted[operationId] = versions
      .filter((one) => isNoted(one) && one.code !== to.code)
      .map(({ version }) => version);
  }
  const Name = toNames(stage).leftVersionsParameter;
  const Value = JSON.stringify(noted);
  try {
    const command = new PutParameterCommand({ Name, Value, Type: 'String', Overwrite: true });
    await open(SSMClient).send(command);
  } catch (error) {
    tell(
      `${Name} does not say what was left, and a later roll-back may offer it: ${toErrorLine(error)}`,
    );
  }
}
