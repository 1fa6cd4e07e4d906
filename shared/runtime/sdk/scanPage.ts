import {
  type AttributeValue,
  type DynamoDBClient,
  ScanCommand,
  type ScanCommandInput,
} from '@aws-sdk/client-dynamodb';
import { unreadableReply } from '../replyTime.ts';

/** A page's items as `rewrite` made them, or else as DynamoDB's JSON has them. */
export interface ScannedPage {
  readonly items: Buffer | readonly Record<string, AttributeValue>[];
  readonly next: Record<string, AttributeValue> | undefined;
}

/**
 * Reads a page of a table as bytes, without an object per item. The SDK still signs, retries, times out and reads the
 * rest of the response, but does not parse the items.
 * @param rewrite takes the items out of the response, and leaves the remainder to the SDK; `undefined` if it cannot
 */
export async function scanPage(
  client: DynamoDBClient,
  input: ScanCommandInput,
  rewrite: (response: Buffer) => { readonly items: Buffer; readonly remainder: Buffer } | undefined,
): Promise<ScannedPage> {
  let items: ScannedPage['items'] = [];
  const command = new ScanCommand(input);
  command.middlewareStack.add(
    (next) =>
      async function takeItems(args) {
        const result = await next(args);
        const response = result.response as HttpResponse;
        // Any other response goes unchanged to the deserializer, which throws its error.
        if (response.statusCode === 200) {
          const bytes = await readBytes(response);
          const page = rewrite(bytes) ?? parsePage(bytes);
          spare = bytes;
          items = page.items;
          response.body = page.remainder;
        }
        return result;
      },
    // Closer to the network than the deserializer, so that it gets the response first, but not closer than the
    // middleware that limits the response's time.
    { step: 'deserialize', priority: 'normal' },
  );
  const { LastEvaluatedKey } = await client.send(command);
  return { items, next: LastEvaluatedKey };
}

interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  body: AsyncIterable<Uint8Array> | Uint8Array;
}

function parsePage(response: Buffer) {
  try {
    const { Items: items = [], ...rest } = JSON.parse(response.toString());
    return { items, remainder: Buffer.from(JSON.stringify(rest)) };
  } catch (error) {
    throw unreadableReply(error);
  }
}

/**
 * The last page's buffer, reused for the next page. A page takes some megabytes outside the JavaScript heap, and V8
 * lets many of them accumulate before it collects them.
 */
let spare: Buffer | undefined;

async function readBytes({ headers, body }: HttpResponse): Promise<Buffer> {
  const expected = Number(headers['content-length'] ?? 0);
  let bytes = spare && spare.length >= expected ? spare : Buffer.allocUnsafe(expected);
  spare = undefined;
  let length = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    if (length + chunk.length > bytes.length) {
      bytes = Buffer.concat([bytes.subarray(0, length)], 2 * (length + chunk.length));
    }
    bytes.set(chunk, length);
    length += chunk.length;
  }
  return bytes.subarray(0, length);
}
