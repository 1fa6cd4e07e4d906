/**
 * A parameter of a path or of a query: text in the URL, a value in the handler. Plain functions and not
 * schemas, so that a function that takes no body starts without a schema library.
 */
export interface Parameter<Value> {
  /** `undefined` when the text is no value of it. */
  readonly parse: (text: string) => Value | undefined;
  /** What a client is told then, after the parameter's name. */
  readonly error: string;
}

/** The values of parameters, by name. */
export type Values<Parameters> = {
  readonly [Name in keyof Parameters]: Parameters[Name] extends Parameter<infer Value>
    ? Value
    : never;
};
