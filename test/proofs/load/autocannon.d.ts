declare module 'autocannon' {
  export interface Request {
    readonly method: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }

  export interface Options {
    readonly url: string;
    readonly connections: number;
    /** Seconds. */
    readonly duration: number;
    /** Milliseconds between the looks at whether the time is over; 1,000 by default. */
    readonly sampleInt?: number;
    /** Each connection sends them one after the other, over and over. */
    readonly requests: readonly Request[];
  }

  export interface Result {
    /** Seconds that it took. */
    readonly duration: number;
    readonly requests: { readonly total: number };
    /** Whole milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number };
    /** Connections that broke, and answers that did not come in time. */
    readonly errors: number;
    readonly non2xx: number;
  }

  export default function autocannon(options: Options): Promise<Result>;
}
