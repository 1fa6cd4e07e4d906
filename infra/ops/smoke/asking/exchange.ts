import { type Agent, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Deadline } from './deadline.ts';
import { type AskedHead, Mismatch, NoAnswer } from './failures.ts';

/** A request as it is sent, byte for byte. */
export interface ExactRequest {
  readonly asked: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** An answer whose body is still to come. */
export interface OpenAnswer extends AskedHead {
  /** The body in pieces. @throws {Mismatch | NoAnswer} where it breaks off, or comes too slowly */
  readonly chunks: AsyncIterable<Buffer>;
  /** Closes the connection without reading the body. */
  discard(): void;
}

/**
 * @param deadline ends the exchange; with `refreshes`, each piece of the body starts it anew
 * @param seconds how long the deadline is, for the message
 * @throws {NoAnswer} when there is no answer, or none in time
 */
export async function exchange(
  request: ExactRequest,
  agent: Agent,
  deadline: Deadline,
  { seconds, refreshes }: { readonly seconds: number; readonly refreshes: boolean },
): Promise<OpenAnswer> {
  const { asked } = request;
  const response = await send(request, agent, deadline.signal).catch((error: Failure) => {
    deadline[Symbol.dispose]();
    throw new NoAnswer(
      deadline.signal.aborted
        ? `${asked} got no answer within ${seconds} s.`
        : `${asked} got no answer: ${error.message || error.code}.`,
    );
  });
  const head = { asked, status: response.statusCode ?? 0, headers: toHeaders(response) };

  async function* readChunks(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of response) {
        if (refreshes) deadline.refresh();
        yield chunk;
      }
    } catch {
      if (!deadline.signal.aborted) throw new Mismatch(head, 'a whole body', 'and broke off');
      const silence = refreshes
        ? `went silent for ${seconds} s`
        : `did not end within ${seconds} s`;
      throw new NoAnswer(`${asked} answered ${head.status} and ${silence}.`);
    } finally {
      deadline[Symbol.dispose]();
    }
  }

  return {
    ...head,
    chunks: readChunks(),
    discard() {
      deadline[Symbol.dispose]();
      response.destroy();
    },
  };
}

type Failure = Error & { readonly code?: string };

function send(
  { url, method, headers, body }: ExactRequest,
  agent: Agent,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = url.startsWith('https:') ? requestSecure : requestPlain;
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  // Not by a URL object, which would tidy the path.
  const [, origin = '', path = ''] = /^(\w+:\/\/[^/]+)(.*)$/.exec(url) ?? [];
  return new Promise((resolve, reject) => {
    const options = { method, path, headers: { ...length, ...headers }, agent, signal };
    request(origin, options).on('response', resolve).on('error', reject).end(body);
  });
}

function toHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(String(rawHeaders[index]), String(rawHeaders[index + 1]));
  }
  return headers;
}
