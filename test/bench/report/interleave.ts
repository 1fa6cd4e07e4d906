/**
 * Calls `measure` for each contender in turn, round after round and from another start each time, so
 * that whatever else the machine does meets them all alike.
 */
export async function interleave<Contender, Sample>(
  contenders: readonly Contender[],
  rounds: number,
  measure: (contender: Contender) => Promise<Sample>,
): Promise<Map<Contender, Sample[]>> {
  const samples = new Map<Contender, Sample[]>(contenders.map((contender) => [contender, []]));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % contenders.length;
    for (const contender of [...contenders.slice(first), ...contenders.slice(0, first)]) {
      samples.get(contender)?.push(await measure(contender));
    }
  }
  return samples;
}
