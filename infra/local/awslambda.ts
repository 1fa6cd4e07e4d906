import type { Writable } from 'node:stream';
import { type ResponsePrelude, setPrelude } from './gateway/responseStream.ts';

/**
 * Defines the global that Lambda's Node.js runtime has, with what streaming functions use of it:
 * https://docs.aws.amazon.com/lambda/latest/dg/config-rs-write-functions.html
 * Functions look for it when they are imported.
 */
export function defineAwslambda(): void {
  Object.assign(globalThis, {
    awslambda: {
      streamifyResponse: (handler: unknown) => handler,
      HttpResponseStream: {
        from(stream: Writable, prelude: ResponsePrelude): Writable {
          setPrelude(stream, prelude);
          return stream;
        },
      },
    },
  });
}
