import {
  type DynamoDBClient,
  ListTagsOfResourceCommand,
  type Tag,
  TagResourceCommand,
} from '@aws-sdk/client-dynamodb';
import { describeTable, type TableRestore } from './tableRestore.ts';

/**
 * The tags of the source that the restored table lacks; cost reports are split by them. Those that begin
 * with `aws:` are AWS's own, and cannot be given:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Tagging.html
 */
export async function findMissingTags(
  client: DynamoDBClient,
  { source, target }: TableRestore,
): Promise<Tag[]> {
  const there = (await readTags(client, target)).map(({ Key }) => Key);
  const wanted = await readTags(client, source);
  return wanted.filter(({ Key }) => !Key?.startsWith('aws:') && !there.includes(Key));
}

export async function addMissingTags(client: DynamoDBClient, restore: TableRestore): Promise<void> {
  await client.send(
    new TagResourceCommand({
      ResourceArn: await readArn(client, restore.target),
      Tags: await findMissingTags(client, restore),
    }),
  );
}

async function readTags(client: DynamoDBClient, tableName: string): Promise<Tag[]> {
  const tags: Tag[] = [];
  const ResourceArn = await readArn(client, tableName);
  let next: string | undefined;
  do {
    const page = await client.send(new ListTagsOfResourceCommand({ ResourceArn, NextToken: next }));
    tags.push(...(page.Tags ?? []));
    next = page.NextToken;
  } while (next);
  return tags;
}

async function readArn(client: DynamoDBClient, tableName: string): Promise<string> {
  const arn = (await describeTable(client, tableName))?.TableArn;
  if (arn !== undefined) return arn;
  throw new Error(`There is no table ${tableName} any more.`);
}
