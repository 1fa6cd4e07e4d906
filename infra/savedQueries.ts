import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { type OperationId, operations } from '../shared/contract/operations.ts';
import { type LogQuery, logQueries } from './logQueries.ts';
import { toAccessLogName, toFunctionLogName } from './resourceNames.ts';
import { type StageName, toStackName } from './stages.ts';

/** Saves the queries in Logs Insights, in a folder with the stage's name and on the stage's logs. */
export function defineSavedQueries(scope: Construct, stage: StageName): void {
  for (const { name, log, lines } of logQueries) {
    new CfnQueryDefinition(scope, `${name.replaceAll(' ', '')}Query`, {
      name: `${toStackName(stage)}/${name}`,
      logGroupNames: toLogNames(stage, log),
      queryString: lines.join('\n| '),
    });
  }
}

function toLogNames(stage: StageName, log: LogQuery['log']): string[] {
  if (log === 'access') return [toAccessLogName(stage)];
  return (Object.keys(operations) as OperationId[]).map((id) => toFunctionLogName(stage, id));
}
