import { once } from 'node:events';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { Engine, EngineOptions, StartEngine } from './engine.ts';
import { StartFailure } from './loopback.ts';

/** A quarter of what Node.js takes, since two threads hold more at the peak of a load than one. */
const YOUNG_MEGABYTES = 12;

/** Tells the thread that this file starts from any other that imports it. */
const ENGINE_THREAD = 'petstore:engine';

/** Disposed of, it ends at once; an engine that was started is to be closed before. */
export interface EngineThread extends Disposable {
  readonly startEngine: StartEngine;
}

/**
 * A thread of its own for dynalite, which works there while this one makes requests of it. It begins to
 * load at once, beside what this one loads until it has the engine started.
 */
export function defineEngineThread(): EngineThread {
  const thread = new Worker(new URL(import.meta.url), {
    workerData: ENGINE_THREAD,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
  });
  const crash = new AbortController();
  let isClosing = false;
  thread.once('error', (error: StartFailure) => crash.abort(toFailure(error)));
  const exited = new Promise<void>((resolve) => {
    thread.once('exit', (status) => {
      // dynalite ends its thread by itself, without a reason, when its store cannot go on.
      if (!isClosing || status !== 0) crash.abort(toCrash(`it ended with status ${status}`));
      resolve();
    });
  });

  async function close(): Promise<void> {
    isClosing = true;
    thread.postMessage('close');
    await exited;
    crash.signal.throwIfAborted();
  }

  return {
    async startEngine({ dir, enginePort }: EngineOptions): Promise<Engine> {
      thread.postMessage({ dir, enginePort });
      const endpoint = await new Promise<string>((resolve, reject) => {
        thread.once('message', resolve);
        if (crash.signal.aborted) reject(crash.signal.reason);
        crash.signal.addEventListener('abort', () => reject(crash.signal.reason));
      });
      return { endpoint, crash: crash.signal, close };
    },
    [Symbol.dispose]() {
      void thread.terminate();
    },
  };
}

/** An error comes out of a thread without its class. */
function toFailure({ isStartFailure, message }: StartFailure): StartFailure {
  return isStartFailure ? new StartFailure(message) : toCrash(message);
}

function toCrash(reason: string): StartFailure {
  const line = reason.replaceAll(/\s+/g, ' ');
  return new StartFailure(`The embedded DynamoDB has crashed, and the stage ends: ${line}`);
}

if (parentPort && workerData === ENGINE_THREAD) {
  const { startEmbeddedEngine } = await import('./engine.ts');
  const [options] = await once(parentPort, 'message');
  const engine = await startEmbeddedEngine(options);
  const isToClose = once(parentPort, 'message');
  parentPort.postMessage(engine.endpoint);
  await isToClose;
  await engine.close();
  process.exit();
}
