/**
 * The part of CloudWatch's metric math that the alarms use. A result of a missing value is missing too.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 * @returns a function of the values of the ids
 */
export function compile(
  ids: readonly string[],
  expression: string,
): (values: readonly (number | undefined)[]) => number {
  const parts = ids.map((id, index) => `const ${id} = values[${index}] ?? NaN;`);
  const body = `${parts.join('')} return ${expression};`;
  const calculate = new Function('values', 'IF', 'FILL', 'MAX', body);
  return (values) => calculate(values, IF, FILL, MAX);
}

const IF = (condition: boolean | number, one: number, other: number) => (condition ? one : other);
const MAX = (values: readonly number[]) => Math.max(...values);
const FILL = (value: number, otherwise: number) => (Number.isNaN(value) ? otherwise : value);
