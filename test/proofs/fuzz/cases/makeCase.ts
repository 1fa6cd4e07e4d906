import type { FuzzCase } from './fuzzCase.ts';
import type { FuzzFacts } from './fuzzRequest.ts';
import { makeBytes } from './makeBytes.ts';
import { makeEvent } from './makeEvent.ts';
import { makeRequest } from './makeRequest.ts';
import { defineRandom } from './random.ts';

/** One in so many cases goes over a connection: a function answers an event several times as fast. */
const SOCKET_SHARE = 0.15;

/** The case of a number, the same for each run with this seed. */
export function makeCase(seed: number, number: number, facts: FuzzFacts): FuzzCase {
  const random = defineRandom(seed, number);
  const request = makeRequest(random, facts);
  return random.chance(SOCKET_SHARE)
    ? { transport: 'socket', number, request, ...makeBytes(random, request) }
    : {
        transport: 'event',
        number,
        request,
        ...makeEvent(random, request, toRequestId(seed, number)),
      };
}

/** What an event's request is called; of one on a connection, the gateway's own id is in the answer. */
export function toRequestId(seed: number, number: number): string {
  return `fuzz-${seed}-${number}`;
}

/** The case as text, to be read beside what went wrong. */
export function describeCase(one: FuzzCase): string {
  const { operationId } = one.request;
  if (one.transport === 'event') {
    const { event, withoutContext } = one;
    return `event for ${operationId}${withoutContext ? ', without a context' : ''}: ${shorten(JSON.stringify(event))}`;
  }
  return `${one.framing} bytes: ${shorten(JSON.stringify(Buffer.concat(one.chunks).toString('latin1')))}`;
}

function shorten(text: string): string {
  return text.length > 3_000 ? `${text.slice(0, 3_000)}… (${text.length} characters)` : text;
}
