import { createHash, createHmac } from 'node:crypto';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { BenchedId } from '../buildBundles.ts';

// Each operation's calls to DynamoDB (the key's and its own) over bare HTTPS, signed by hand: no SDK, checks or log.

const { AWS_REGION = '', AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = process.env;
const token = process.env.AWS_SESSION_TOKEN ?? '';
const endpoint = new URL(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '');
const agent = new Agent({ keepAlive: true });

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function sign(action: string, body: string): Record<string, string> {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/${AWS_REGION}/dynamodb/aws4_request`;
  const signed: Record<string, string> = {
    'content-type': 'application/x-amz-json-1.0',
    host: endpoint.host,
    'x-amz-date': time,
    'x-amz-security-token': token,
    'x-amz-target': `DynamoDB_20120810.${action}`,
  };
  const names = Object.keys(signed).join(';');
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
  const canonical = ['POST', '/', '', lines.join(''), names, hash(body)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${AWS_SECRET_ACCESS_KEY}`);
  const signature = createHmac('sha256', key)
    .update(['AWS4-HMAC-SHA256', time, scope, hash(canonical)].join('\n'))
    .digest('hex');
  const credential = `Credential=${AWS_ACCESS_KEY_ID}/${scope}`;
  const Authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}`;
  return { ...signed, Authorization, 'content-length': String(Buffer.byteLength(body)) };
}

function hash(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

function hmac(key: string | Buffer, content: string): Buffer {
  return createHmac('sha256', key).update(content).digest();
}

function call(action: string, input: object): Promise<Record<string, unknown>> {
  const body = JSON.stringify(input);
  return new Promise((resolve, reject) => {
    request(endpoint, { method: 'POST', headers: sign(action, body), agent }, (response) => {
      text(response).then((response) => resolve(JSON.parse(response)), reject);
    })
      .on('error', reject)
      .end(body);
  });
}

const calls: Record<BenchedId, (id: string) => [action: string, input: object][]> = {
  listInventory: () => [['Scan', { TableName: process.env.INVENTORY_TABLE }]],
  updateInventory: (id) => [
    [
      'UpdateItem',
      {
        TableName: process.env.INVENTORY_TABLE,
        Key: { p: { N: id } },
        UpdateExpression: 'SET q = :quantity',
        ConditionExpression: 'attribute_exists(p)',
        ExpressionAttributeValues: { ':quantity': { N: '7' } },
        ReturnValues: 'ALL_OLD',
      },
    ],
  ],
  adjustInventory: () => {
    const [TableName, Key] = [process.env.INVENTORY_TABLE, { p: { N: '7' } }];
    const Update = {
      TableName,
      Key,
      UpdateExpression: 'SET q = q - :one',
      ConditionExpression: 'q >= :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
    };
    const Put = {
      TableName: process.env.REQUESTS_TABLE,
      Item: { p: { N: '1' }, r: { S: 'order-1234' } },
      ConditionExpression: 'attribute_not_exists(r)',
    };
    return [
      ['TransactWriteItems', { TransactItems: [{ Update }, { Put }] }],
      ['GetItem', { TableName, Key, ConsistentRead: true }],
    ];
  },
  listOrders: () => [
    [
      'Query',
      {
        TableName: process.env.ORDERS_TABLE,
        KeyConditionExpression: 'ledger = :ledger',
        ExpressionAttributeValues: { ':ledger': { S: 'orders' } },
      },
    ],
  ],
};

export function defineHandler(id: BenchedId) {
  return async ({ headers, pathParameters }: APIGatewayProxyEvent) => {
    const [, keyId = ''] = /psk_([^_]+)/.exec(headers.Authorization ?? '') ?? [];
    await call('GetItem', { TableName: process.env.API_KEYS_TABLE, Key: { keyId: { S: keyId } } });
    let response = {};
    for (const own of calls[id](pathParameters?.petId ?? '')) response = await call(...own);
    const type = { 'Content-Type': 'application/json' };
    return { statusCode: 200, headers: type, body: JSON.stringify(response) };
  };
}
