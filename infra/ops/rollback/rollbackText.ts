import { toColumns, toShortTime } from '../../cli/output.ts';
import type { StageStack } from '../../cli/stageStack.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';
import { type LiveFunction, newestServed, type PublishedVersion, serves } from './liveFunctions.ts';
import type { Move } from './moves.ts';

/** How many versions before the live one are shown of each function. */
const MAX_EARLIER = 3;

/** What each function serves, what it served before, and where it is to go. */
export function toVersionTable(
  functions: readonly LiveFunction[],
  moves: readonly Move[] | undefined = [],
): string {
  const rows = functions.flatMap((one) => {
    const target = moves.find(({ from }) => from === one)?.to;
    return toShown(one, target).map((version, index) => [
      index === 0 ? one.operationId : '',
      String(version.version),
      version.commit || '-',
      toShortTime(version.publishedAt),
      toMark(one, version, target),
    ]);
  });
  return toColumns([['OPERATION', 'VERSION', 'COMMIT', 'PUBLISHED', ''], ...rows]);
}

/**
 * What keeps the next deployment from being confused by aliases that were moved without it.
 * CloudFormation compares a template with the last one, never with what an alias points at:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks.html
 * So the last template, deployed again, moves nothing. Any other moves an alias to its new version:
 * with `atOnce` from wherever it is; else through CodeDeploy, which stops while an alarm fires, and which
 * takes the version of the last template for the one that the requests go to:
 * https://docs.aws.amazon.com/codedeploy/latest/userguide/reference-appspec-file-structure-resources.html
 */
export function toNextSteps(
  { name: stage, settings }: Stage,
  { name, outputs }: StageStack,
  functions: readonly LiveFunction[],
  moves: readonly Move[],
): string {
  if (functions.every((one) => toServed(one, moves) === one.versions[0]?.version)) {
    return `\nThe aliases are where the last deployment put them: nothing else is to be done.`;
  }
  const isGradual = settings.rollout !== 'atOnce';
  const last = outputs.Commit ?? 'what was deployed last';
  const steps = [
    `Check out the good commit, or one that fixes the error, and npm ci. Not ${last},\n     which was deployed last: again it changes nothing, and the aliases stay where they are.`,
    ...(isGradual
      ? [
          `In ${stagesFile}, set rollout: 'atOnce' under ${stage}: CodeDeploy stops while an alarm\n     fires, and takes the aliases to be where the last deployment put them.`,
        ]
      : []),
    `npm run deploy ${name}`,
    ...(isGradual ? ['Put rollout back, and deploy once more.'] : []),
  ];
  return [
    '\nCloudFormation knows nothing of this. The next deployment:',
    ...steps.map((step, index) => `  ${index + 1}. ${step}`),
    'The aliases need not be put back before.',
    ...toUndo(stage, moves),
  ].join('\n');
}

function toShown(one: LiveFunction, target: PublishedVersion | undefined): PublishedVersion[] {
  const newest = newestServed(one);
  const earlier = one.versions.filter(({ version }) => version < newest).slice(0, MAX_EARLIER);
  return one.versions.filter(
    (version) => one.served.has(version.version) || version === target || earlier.includes(version),
  );
}

function toMark(
  { served }: LiveFunction,
  version: PublishedVersion,
  target: PublishedVersion | undefined,
): string {
  const share = served.get(version.version);
  const live = share === undefined ? '' : share === 1 ? 'live' : `live, ${toPercent(share)}`;
  if (version !== target || share === 1) return live;
  return live ? `${live} -> all` : '<- goes here';
}

function toPercent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

function toServed(one: LiveFunction, moves: readonly Move[]): number {
  return moves.find(({ from }) => from === one)?.to.version ?? newestServed(one);
}

function toUndo(stage: string, moves: readonly Move[]): string[] {
  const moved = moves.filter(({ from, to }) => !serves(from, to.version));
  if (moved.length === 0) return [];
  const versions = moved.map(({ from }) => `${from.operationId}=${newestServed(from)}`);
  return [`To undo: npm run rollback -- --stage ${stage} --to ${versions.join(' ')}`];
}
