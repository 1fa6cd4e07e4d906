import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { findOperation } from '../../../openapi/answerProblems.ts';
import type { Clock } from './clock.ts';
import { startDeadline } from './deadline.ts';
import { exchange, type OpenAnswer } from './exchange.ts';
import { type AskedHead, RunOver } from './failures.ts';
import { definePace, type Throttles } from './pace.ts';

/** The most requests of a run, those that the gateway refuses with 429 included. */
export const MOST_REQUESTS = 100;

export interface SenderSettings {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** How long an answer may take, and how long it may be silent while a whole list comes. */
  readonly timeoutSeconds: number;
  /** What the gateway lets through; without it, its 429s alone set the pace. */
  readonly throttles: Throttles | undefined;
  readonly clock: Clock;
}

export interface StageRequest {
  /** `GET` by default. */
  readonly method?: string;
  /** Relative to the base address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** In place of the run's key; `null` sends none. */
  readonly apiKey?: string | null;
}

/** Sends requests at the pace that the stage takes, and counts them. */
export interface Sender extends Disposable {
  readonly sent: number;
  readonly answered: number;
  /**
   * @param refreshes whether each piece of the body starts the timeout anew
   * @throws {NoAnswer | RunOver}
   */
  send(request: StageRequest, refreshes: boolean): Promise<OpenAnswer>;
}

/** @param run aborted when the time of the run is over */
export function defineSender(settings: SenderSettings, run: AbortSignal): Sender {
  const { baseUrl, apiKey, timeoutSeconds, throttles, clock } = settings;
  const agent = new (baseUrl.startsWith('https:') ? SecureAgent : Agent)({ keepAlive: true });
  const pace = definePace(throttles, clock);
  const count = { sent: 0, answered: 0, limited: 0 };

  return {
    get sent() {
      return count.sent;
    },
    get answered() {
      return count.answered;
    },
    async send(request: StageRequest, refreshes: boolean): Promise<OpenAnswer> {
      const { method = 'GET', path, headers, body } = request;
      const key = request.apiKey === undefined ? apiKey : request.apiKey;
      const credentials = key === null ? {} : { Authorization: `Bearer ${key}` };
      const exact = {
        asked: `${method} ${path}`,
        url: baseUrl + path,
        method,
        headers: { ...credentials, ...headers },
        body,
      };
      for (;;) {
        if (count.sent === MOST_REQUESTS) {
          throw new RunOver(
            `The run has sent its ${MOST_REQUESTS} requests, of which ${count.limited} were answered 429.`,
          );
        }
        await pace.wait(findOperation(method, path) ?? 'other', run);
        count.sent += 1;
        const deadline = startDeadline(timeoutSeconds * 1_000, run);
        const answer = await exchange(exact, agent, deadline, {
          seconds: timeoutSeconds,
          refreshes,
        });
        count.answered += 1;
        if (answer.status !== 429) return answer;
        count.limited += 1;
        answer.discard();
        await clock.sleep(toRetryAfter(answer) * 1_000, run);
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** In seconds; what is no number is as none. */
function toRetryAfter({ headers }: AskedHead): number {
  const seconds = Number(headers.get('Retry-After') ?? 1);
  return seconds >= 0 ? seconds : 1;
}
