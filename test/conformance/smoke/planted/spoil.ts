import type { FrontAnswer, PlantedFault } from '../front.ts';

/** By name: a fault, and what the report says of the row that it breaks. The stage has nine of the fixtures' entries. */
export type PlantedFaults = Readonly<
  Record<string, readonly [fault: PlantedFault, report: string]>
>;

/** A fault of the answers whose request the pattern meets. */
export function spoil(
  pattern: RegExp,
  change: (answer: FrontAnswer, path: string) => void,
): PlantedFault {
  return {
    answer({ method, path }, answer) {
      if (pattern.test(`${method} ${path} ${answer.status}`)) change(answer, path);
    },
  };
}

export function set(name: string, value: string) {
  return (answer: FrontAnswer) => {
    answer.headers[name] = value;
  };
}

export function remove(name: string) {
  return (answer: FrontAnswer) => {
    delete answer.headers[name];
  };
}

export function replace(from: string | RegExp, to: string) {
  return (answer: FrontAnswer) => {
    answer.text = answer.text.replace(from, to);
  };
}
