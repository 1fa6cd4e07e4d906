import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { operationIds } from '../../shared/contract/operations.ts';
import { toAccessLogName, toFunctionLogName, toStackName } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import { type LogQuery, logQueries } from './logQueries.ts';

/** Saves the queries in Logs Insights, in a folder with the stage's name and on the stage's logs. */
export function defineSavedQueries(scope: Construct, stage: Stage): void {
  for (const { name, log, lines } of logQueries) {
    new CfnQueryDefinition(scope, `${name.replaceAll(' ', '')}Query`, {
      name: `${toStackName(stage)}/${name}`,
      logGroupNames: toLogNames(stage, log),
      queryString: lines.join('\n| '),
    });
  }
}

function toLogNames(stage: Stage, log: LogQuery['log']): string[] {
  if (log === 'access') return [toAccessLogName(stage)];
  return operationIds.map((id) => toFunctionLogName(stage, id));
}
