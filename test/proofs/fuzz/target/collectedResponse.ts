import type { OutgoingHttpHeaders } from 'node:http';
import { Writable } from 'node:stream';
import type { WholeAnswer } from '../../../../infra/openapi/answerProblems.ts';

/** Takes, in the place of a connection's response, what the gateway sends of a function's answer. */
export class CollectedResponse extends Writable {
  headersSent = false;
  #status = 0;
  readonly #headers = new Headers();
  readonly #chunks: Buffer[] = [];

  writeHead(status: number, headers: OutgoingHttpHeaders = {}): this {
    this.headersSent = true;
    this.#status = status;
    for (const [name, value] of Object.entries(headers)) {
      for (const line of [value].flat()) this.#headers.append(name, String(line));
    }
    return this;
  }

  flushHeaders(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  toAnswer(): WholeAnswer {
    return { status: this.#status, headers: this.#headers, bytes: Buffer.concat(this.#chunks) };
  }
}
