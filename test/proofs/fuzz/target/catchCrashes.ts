const events = ['uncaughtException', 'unhandledRejection'] as const;

/** Is told, alone, of what nobody caught, until it is disposed of: Lambda would have ended the process. */
export function catchCrashes(onCrash: (error: unknown) => void): Disposable {
  const others = events.map((event) => [event, process.listeners(event as never)] as const);
  for (const event of events) process.removeAllListeners(event).on(event, onCrash);
  return {
    [Symbol.dispose]() {
      for (const [event, listeners] of others) {
        process.removeAllListeners(event);
        for (const listener of listeners) process.on(event, listener as never);
      }
    },
  };
}
