declare module 'autocannon' {
  export interface Request {
    readonly method: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }

  /** Each connection sends the requests one after the other, over and over, for `duration` seconds. */
  export default function autocannon(options: {
    readonly url: string;
    readonly connections: number;
    readonly duration: number;
    /** Milliseconds between the looks at whether the time is over; 1,000 by default. */
    readonly sampleInt?: number;
    readonly requests: readonly Request[];
  }): Promise<{
    readonly duration: number;
    readonly requests: { readonly total: number };
    /** Whole milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number };
    /** Connections that broke, and answers that did not come in time. */
    readonly errors: number;
    readonly non2xx: number;
  }>;
}
