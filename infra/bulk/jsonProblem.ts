/** Why a text is not JSON, as JSON.parse says it; but a leading zero, which that only points at, by its name. */
export function toJsonProblem(text: string, { message }: Error): string {
  const [, position] = /^Unexpected number .* at position (\d+)/.exec(message) ?? [];
  const isAfterZero = position !== undefined && text[Number(position) - 1] === '0';
  return isAfterZero ? `a number has a leading zero, ${message}` : message;
}
