import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import {
  type LiveFunction,
  type PublishedVersion,
  readLiveFunctions,
} from '../../cli/liveFunctions.ts';
import { log } from '../../cli/output.ts';
import { readParameter, readReleases } from '../../cli/parameterStore.ts';
import { type OpenStage, settle } from '../../cli/stageStack.ts';
import { toNames } from '../../stages/resourceNames.ts';
import type { Move } from './aliases.ts';

/** The numbers of the versions that were rolled back, by operation. Lambda uses no number twice. */
type KnownBadVersions = Readonly<Partial<Record<OperationId, readonly number[]>>>;

/** What a stage runs, and what it ran before. It is read also without the parameters. */
export async function readCode(stage: OpenStage) {
  const { releaseParameter, knownBadParameter } = toNames(stage.stage);
  const written = await settle(readReleases(stage));
  const releases = 'value' in written ? written.value : [];
  const functions = await readLiveFunctions(stage, releases);
  const reading = readParameter(stage, knownBadParameter).then(
    (text = '{}'): KnownBadVersions => JSON.parse(text),
  );
  const numbers = await settle(reading);
  const parts = {
    [`The commits, in ${releaseParameter}`]: written,
    [`The known-bad versions, in ${knownBadParameter}`]: numbers,
  };
  return {
    functions,
    /** Newest first. */
    releases,
    numbers,
    knownBad: findKnownBad(functions, 'value' in numbers ? numbers.value : {}),
    unread: Object.entries(parts).flatMap(([what, part]) =>
      'unread' in part ? [{ what, why: part.unread }] : [],
    ),
  };
}

/** The versions with code that was rolled back, under any number. */
function findKnownBad(
  functions: readonly LiveFunction[],
  numbers: KnownBadVersions,
): Set<PublishedVersion> {
  const found = functions.flatMap(({ operationId, versions }) => {
    const marked = versions.filter(({ version }) => numbers[operationId]?.includes(version));
    return versions.filter(({ digest }) => marked.some((one) => one.digest === digest));
  });
  return new Set(found);
}

/**
 * Adds the versions that the moves leave for older ones, and removes those with the code that the moves go to. A
 * rollback also succeeds if this fails.
 */
export async function recordKnownBad(
  { stage, open }: OpenStage,
  numbers: KnownBadVersions,
  moves: readonly Move[],
): Promise<void> {
  const recorded = { ...numbers };
  for (const { from, to } of moves) {
    const { operationId, live, versions } = from;
    const isBad = (one: PublishedVersion) =>
      numbers[operationId]?.includes(one.version) || (one === live && one.version > to.version);
    recorded[operationId] = versions
      .filter((one) => isBad(one) && one.digest !== to.digest)
      .map(({ version }) => version);
  }
  const Name = toNames(stage).knownBadParameter;
  const Value = JSON.stringify(recorded);
  try {
    const command = new PutParameterCommand({ Name, Value, Type: 'String', Overwrite: true });
    await open(SSMClient).send(command);
  } catch (error) {
    log(
      `${Name} does not name the known-bad versions, and a later rollback may offer them: ${toErrorLine(error)}`,
    );
  }
}
