import { CfnOutput, type Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { apiVersion } from '../../shared/contract/operation.ts';
import { toTableOutput } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import type { DataTables } from './dataTables.ts';

/** What a deployment prints, and what the ops commands read: the base address, the commit and the tables' names. */
export function defineOutputs(
  stack: Stack,
  { settings: { customDomain } }: Stage,
  api: RestApi,
  tables: DataTables,
  commit: string,
): void {
  // Built by hand, since the gateway's own URL ends in a slash.
  const host =
    customDomain?.name ?? `${api.restApiId}.execute-api.${stack.region}.${stack.urlSuffix}`;
  new CfnOutput(stack, 'BaseUrl', {
    description: 'The base address, which every path of the contract is relative to',
    value: `https://${host}/${apiVersion}`,
  });
  new CfnOutput(stack, 'Commit', {
    description: 'The commit that was deployed last',
    value: commit,
  });
  for (const [name, table] of Object.entries(tables)) {
    new CfnOutput(stack, toTableOutput(name), { value: table.tableName });
  }
}
