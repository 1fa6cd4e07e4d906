import { type LambdaClient, UpdateAliasCommand } from '@aws-sdk/client-lambda';
import { toErrorLine } from '../../cli/errorLine.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { aliasName } from './liveFunctions.ts';
import type { Move } from './moves.ts';

/**
 * Moves one alias after the other and tells of each. One that cannot be moved does not keep the others
 * where they are, since what is burning is better put out in part, nor does a reader that leaves, as `head` does.
 * @returns whether all were moved; if not, the exit status says so
 */
export async function moveAliases(client: LambdaClient, moves: readonly Move[]): Promise<boolean> {
  using interruption = listenForInterruption({ evenUnread: true });
  let moved = 0;
  for (const move of moves) {
    if (interruption.signal.aborted) break;
    const { operationId } = move.from;
    try {
      await moveAlias(client, move);
      moved += 1;
      tell(process.stdout, `${operationId} goes to version ${move.to.version}.`);
    } catch (error) {
      tell(process.stderr, `${operationId} was not moved: ${toErrorLine(error)}`);
    }
  }
  if (moved === moves.length) return true;
  const left = `${moves.length - moved} of ${moves.length} aliases were not moved; run the same command again.`;
  tell(process.stderr, interruption.signal.aborted ? `Interrupted: ${left}` : left);
  process.exitCode = interruption.status() || 1;
  return false;
}

/**
 * All requests to one version. Weights that a gradual deployment left are taken away, and a change of
 * the alias since it was shown is refused.
 * https://docs.aws.amazon.com/lambda/latest/api/API_UpdateAlias.html
 */
async function moveAlias(client: LambdaClient, { from, to }: Move): Promise<void> {
  await client.send(
    new UpdateAliasCommand({
      FunctionName: from.functionName,
      Name: aliasName,
      FunctionVersion: String(to.version),
      RoutingConfig: { AdditionalVersionWeights: {} },
      RevisionId: from.revisionId,
    }),
  );
}

function tell(stream: NodeJS.WriteStream, line: string): void {
  stream.write(`${line}\n`);
}
