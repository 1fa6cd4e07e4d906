import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as z from 'zod/mini';
import { MAX_PAYLOAD_BYTES } from '../../gateway/gatewayLimits.ts';
import type { GatewayAnswer } from './gatewayAnswer.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html */
const ProxyResult = z.object({
  statusCode: z.int().check(z.minimum(200), z.maximum(599)),
  headers: z.nullish(z.record(z.string(), scalar)),
  multiValueHeaders: z.nullish(z.record(z.string(), z.array(scalar))),
  body: z.nullish(z.string()),
});

/**
 * Reads what a function returned.
 * @throws {Error} when it is not a proxy result, or too large for one
 */
export function parseProxyResult(result: unknown): GatewayAnswer {
  const parsed = z.safeParse(ProxyResult, result);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.join('.');
    throw new Error(`The function did not return a proxy result${path ? ` (see ${path})` : ''}.`);
  }
  const { statusCode, headers, multiValueHeaders, body } = parsed.data;
  if (Buffer.byteLength(JSON.stringify(result)) > MAX_PAYLOAD_BYTES) {
    throw new Error('The function returned more than 6 MB.');
  }
  const all: Record<string, string | string[]> = { 'Content-Type': 'application/json' };
  const lines = Object.entries({ ...headers, ...multiValueHeaders });
  if (lines.some(([name]) => name.toLowerCase() === 'content-type')) delete all['Content-Type'];
  for (const [name, value] of lines) {
    validateHeaderName(name);
    for (const text of [value].flat()) validateHeaderValue(name, String(text));
    all[name] = Array.isArray(value) ? value.map(String) : String(value);
  }
  return { statusCode, headers: all, body: body ?? '' };
}
