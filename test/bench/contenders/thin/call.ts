import { createHash, createHmac } from 'node:crypto';
import { Agent, request } from 'node:https';

const agent = new Agent({ keepAlive: true });

/** One call of DynamoDB: the signature of Signature Version 4, JSON there and back, and no more. */
export async function call<Answer>(action: string, input: object): Promise<Answer> {
  const { hostname, port } = new URL(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '');
  const body = JSON.stringify(input);
  const headers = toSignedHeaders(`${hostname}:${port}`, `DynamoDB_20120810.${action}`, body);
  return new Promise((resolve, reject) => {
    const sent = request({ agent, hostname, port, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.once('end', () => resolve(JSON.parse(text))).once('error', reject);
    });
    sent.once('error', reject).end(body);
  });
}

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function toSignedHeaders(host: string, target: string, body: string): Record<string, string> {
  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    host,
    'x-amz-date': time,
    'x-amz-security-token': AWS_SESSION_TOKEN ?? '',
    'x-amz-target': target,
  };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const canonical = ['POST', '/', '', lines.join(''), names, toHash(body)].join('\n');
  const scope = `${day}/${AWS_REGION}/dynamodb/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, toHash(canonical)].join('\n');
  const parts = [day, String(AWS_REGION), 'dynamodb', 'aws4_request', text];
  const signature = parts.reduce<Buffer | string>(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    `AWS4${AWS_SECRET_ACCESS_KEY}`,
  );
  const authorization = `AWS4-HMAC-SHA256 Credential=${AWS_ACCESS_KEY_ID}/${scope}, SignedHeaders=${names}, Signature=${(signature as Buffer).toString('hex')}`;
  return { ...headers, authorization };
}

function toHash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
