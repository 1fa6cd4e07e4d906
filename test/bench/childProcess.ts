import { fork } from 'node:child_process';
import { once } from 'node:events';

/** A process that handles one message at a time. */
export type ChildProcess<First = unknown> = Awaited<ReturnType<typeof startChild<First>>>;

/** Starts a script and waits for its first message. It ends with this process at the latest. */
export async function startChild<First>(
  script: string,
  args: readonly string[] = [],
  environment: Record<string, string> = {},
) {
  const child = fork(script, args, {
    env: { ...process.env, ...environment },
    execArgv: [],
  });
  const exited = once(child, 'exit');
  const died = exited.then(([code, signal]) => {
    throw new Error(`The process of ${script} ended early (${signal ?? code}).`);
  });
  died.catch(() => {});
  const nextMessage = <Message>() =>
    Promise.race([once(child, 'message').then(([message]) => message as Message), died]);

  const first = await nextMessage<First>();
  return {
    first,
    /** @throws {Error} with the process's own message when it failed */
    async ask<Reply>(message: object): Promise<Reply> {
      const reply = nextMessage<Reply & { failure?: string }>();
      child.send(message);
      const { failure, ...rest } = await reply;
      if (failure !== undefined) throw new Error(failure);
      return rest as Reply;
    },
    async end(): Promise<void> {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
