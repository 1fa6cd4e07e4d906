import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { FuzzRequest } from './fuzzRequest.ts';

/** What is sent, and how. The same seed and number make the same one, but for keys and tags. */
export type FuzzCase = EventCase | SocketCase;

interface Common {
  /** Its number in the run, by which it can be repeated. */
  readonly number: number;
  readonly request: FuzzRequest;
}

/** An event straight into the function of the request's operation. */
export interface EventCase extends Common {
  readonly transport: 'event';
  readonly event: APIGatewayProxyEvent;
  /** Whether API Gateway can send it. What it cannot may be answered 500, if that is answered well. */
  readonly isPossible: boolean;
  /** Whether Lambda's context is left out. */
  readonly withoutContext: boolean;
}

/** Bytes on a connection to the local stage. */
export interface SocketCase extends Common {
  readonly transport: 'socket';
  /** Written one by one. */
  readonly chunks: readonly Buffer[];
  /**
   * - `whole`: HTTP as it should be, which others can follow on the same connection
   * - `broken`: anything; it is answered, or its connection ends
   * - `half`: the client ends its side in the middle, and waits
   * - `left`: the client is gone at once, and hears nothing
   */
  readonly framing: 'whole' | 'broken' | 'half' | 'left';
}
