import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { type Attribute, AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { toNames } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { type TableDefinition, type TableName, tableNames, tables } from '../../stages/tables.ts';

/** The tables that the functions use: the stack's own, or restored ones. */
export type DataTables = ReturnType<typeof defineDataTables>;

/** The tables, billed per request, so that an idle one costs only its storage. */
export function defineDataTables(scope: Construct, stage: Stage) {
  const { protectsData, restoredTables = {}, maximumUnitsPerSecond } = stage.settings;
  const defineTable = (name: TableName) => {
    const { partitionKey, sortKey, timeToLive }: TableDefinition = tables[name];
    const table = new Table(scope, `${name}Table`, {
      tableName: toNames(stage).toTable(name),
      partitionKey: toAttribute(partitionKey),
      ...(sortKey && { sortKey: toAttribute(sortKey) }),
      ...(timeToLive && { timeToLiveAttribute: timeToLive }),
      billingMode: BillingMode.PAY_PER_REQUEST,
      maxReadRequestUnits: maximumUnitsPerSecond[name].read,
      maxWriteRequestUnits: maximumUnitsPerSecond[name].write,
      removalPolicy: protectsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      deletionProtection: protectsData,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: protectsData },
    });
    if (!protectsData) {
      Validations.of(table).acknowledge({
        id: 'AwsSolutions-DDB3',
        reason: 'A stage without protected data needs no backup.',
      });
    }
    const restored = restoredTables[name];
    if (!restored) return { tableName: table.tableName, tableArns: [table.tableArn] };
    const { tableName, tableArn } = Table.fromTableName(scope, `${name}RestoredTable`, restored);
    // Older versions still use the table that the restored one replaces.
    return { tableName, tableArns: [tableArn, table.tableArn] };
  };
  const defined = tableNames.map((name) => [name, defineTable(name)]);
  return Object.fromEntries(defined) as Record<TableName, ReturnType<typeof defineTable>>;
}

function toAttribute({ name, type }: TableDefinition['partitionKey']): Attribute {
  return { name, type: type === 'N' ? AttributeType.NUMBER : AttributeType.STRING };
}

/**
 * What happens to logs and published versions that the stack no longer uses: a stage that protects its data keeps them.
 * The exception is a deployment that was rolled back. Its logs and versions would block its repetition, because that
 * log name and that code version exist already. CloudFormation calls this RetainExceptOnCreate:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
 */
export function chooseRemovalPolicy({ settings: { protectsData } }: Stage): RemovalPolicy {
  return protectsData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}
