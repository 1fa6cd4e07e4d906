import { createServer, type ServerResponse } from 'node:http';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../../infra/local/engine/loopback.ts';
import { setFunctionEnvironment } from '../../../infra/local/lambdaRuntime.ts';
import { defineDynamoDB } from '../../../shared/runtime/dynamodb.ts';
import { scanPage } from '../../../shared/runtime/sdk/scanPage.ts';
import { rewriteScanResponse } from '../../../shared/store/scanResponse.ts';

/** The response to the next Scan. */
let respond: (response: ServerResponse) => void;
const server = createServer((_, response) => respond(response));
let client: DynamoDBClient;

beforeAll(async () => {
  setFunctionEnvironment(`http://127.0.0.1:${await listen(server, 0, '')}`, '');
  client = defineDynamoDB();
});
afterAll(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

const toRecord = (petId: number) => ({ p: { N: `${petId}` }, q: { N: '1' }, s: { S: 'a' } });
const toItem = (petId: number) => `{"petId":${petId},"quantity":1,"status":"available"}`;

const toBody = (petIds: readonly number[], rest: object = {}) =>
  JSON.stringify({ Items: petIds.map(toRecord), ...rest });

const scan = async () => {
  const { items, next } = await scanPage(client, { TableName: 't' }, (bytes) =>
    rewriteScanResponse(bytes, false),
  );
  return { items: Buffer.isBuffer(items) ? items.toString() : items, next };
};
const toItems = (petIds: readonly number[]) => ({ items: petIds.map(toItem).join(',') });

const many = Array.from({ length: 5_000 }, (_, petId) => petId);

describe('a page', () => {
  it.each([
    ['in one piece', [1, 2]],
    ['after a smaller one', many],
    ['after a larger one', [3]],
    ['without entries', []],
    ['as large as the one before the last', many],
  ])('%s is read whole', async (_, petIds) => {
    respond = (response) => {
      const body = toBody(petIds);
      response.setHeader('Content-Length', Buffer.byteLength(body));
      response.end(body);
    };
    expect(await scan()).toEqual(toItems(petIds));
  });

  it('without a length is read whole, in any chunks, also beside another one', async () => {
    const pages = [many, many.map((petId) => petId + 5_000)];
    const open: ServerResponse[] = [];
    respond = async (response) => {
      open.push(response);
      if (open.length < pages.length) return;
      const bodies = pages.map((petIds) => toBody(petIds));
      for (let from = 0; from < 300_000; from += 30_000) {
        for (const [index, one] of open.entries()) {
          one.write(bodies[index]?.slice(from, from + 30_000) ?? '');
        }
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      for (const one of open) one.end();
    };
    const read = await Promise.all(pages.map(() => scan()));
    expect(read.map(({ items }) => items).sort()).toEqual(pages.map((one) => toItems(one).items));
  });

  it('says where the next one starts', async () => {
    const LastEvaluatedKey = { p: { N: '7' } };
    respond = (response) => response.end(toBody([7, 9], { LastEvaluatedKey }));
    expect(await scan()).toEqual({ ...toItems([7, 9]), next: LastEvaluatedKey });
  });

  it.each([
    ['with an attribute that nobody declared', { ...toRecord(1), x: { L: [{ N: '4.5' }] } }],
    ['with an attribute missing', { p: { N: '1' } }],
    ['with a version of release 1.0.0', { ...toRecord(1), v: { N: '3' } }],
  ])('%s is as DynamoDB’s JSON has it, and says where the next one starts', async (_, record) => {
    const LastEvaluatedKey = { p: { N: '7' } };
    respond = (response) => response.end(JSON.stringify({ Items: [record], LastEvaluatedKey }));
    expect(await scan()).toEqual({ items: [record], next: LastEvaluatedKey });
  });

  it('with white space or without items is as DynamoDB’s JSON has it', async () => {
    respond = (response) => response.end('{ }');
    expect(await scan()).toEqual({ items: [] });
    respond = (response) => response.end(JSON.stringify({ Items: [toRecord(1)] }, null, 1));
    expect(await scan()).toEqual({ items: [toRecord(1)] });
  });

  it('with an error throws it', async () => {
    respond = (response) => {
      response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
      response.end('{"__type":"x#ResourceNotFoundException","message":"gone"}');
    };
    await expect(scan()).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});
