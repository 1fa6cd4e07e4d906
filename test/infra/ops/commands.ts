import packageJson from '../../../package.json' with { type: 'json' };

/** Every command for ops and finance, and the local stage: its name and its script. */
export const commands = Object.entries(packageJson.scripts).flatMap(([name, line]) => {
  const [, script] = /node infra\/run\.js (infra\/(?:ops|local|costs)\/\S+)$/.exec(line) ?? [];
  return script === undefined ? [] : [{ name, script }];
});
