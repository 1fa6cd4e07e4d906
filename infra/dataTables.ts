import { RemovalPolicy } from 'aws-cdk-lib';
import { type Attribute, AttributeType, BillingMode, Table } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { StageSettings } from './stages.ts';
import { type TableDefinition, type TableName, tables } from './tables.ts';

export type DataTables = Record<TableName, Table>;

/** The tables, billed by request so that an idle one costs its storage alone. */
export function defineDataTables(scope: Construct, { protectsData }: StageSettings): DataTables {
  const defineTable = (name: TableName) => {
    const { partitionKey, sortKey }: TableDefinition = tables[name];
    return new Table(scope, `${name}Table`, {
      partitionKey: toAttribute(partitionKey),
      ...(sortKey && { sortKey: toAttribute(sortKey) }),
      billingMode: BillingMode.PAY_PER_REQUEST,
      removalPolicy: protectsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      deletionProtection: protectsData,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: protectsData },
    });
  };
  return {
    inventory: defineTable('inventory'),
    pets: defineTable('pets'),
    orders: defineTable('orders'),
    apiKeys: defineTable('apiKeys'),
  };
}

function toAttribute({ name, type }: TableDefinition['partitionKey']): Attribute {
  return { name, type: type === 'N' ? AttributeType.NUMBER : AttributeType.STRING };
}
