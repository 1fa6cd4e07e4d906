import { toColumns, toCount, toPlain, toShortTime } from '../../cli/output.ts';
import type { Part } from '../../cli/stageStack.ts';
import type { Stage } from '../../stages/stages.ts';
import type { NextStep } from './nextStep.ts';
import type { Night } from './readNight.ts';

/** Lines that are longer are hard to read. */
const MAX_WIDTH = 100;

/** The page as text. No line is wider than the terminal, but the command to copy. */
export function toNightText(
  stage: Stage,
  night: Night,
  next: NextStep,
  now: number,
  columns: number,
): string {
  const width = Math.min(columns, MAX_WIDTH);
  const wrap = (text: string, indent = 2) => toLines(text, width, indent);
  const show = <Value>(part: Part<Value>, toText: (value: Value) => string[]) =>
    'value' in part ? toText(part.value) : wrap(`Could not be read: ${part.unread}`);
  const since = (time: string) => toMoment(time, now);

  const alarms = show(night.alarms, ({ total, withoutData, silence: unheard, firing }) => {
    if (total === 0) return wrap(`None: ${stage.name} has no alarms.`);
    const silent = withoutData > 0 ? ` ${toCount(withoutData)} of them have no data.` : '';
    const none = firing.length === 0 ? `None of ${toCount(total, 'alarm')}.${silent}` : '';
    // Alarms with one cause have the same advice.
    const acts = new Set<string>();
    const told = firing.flatMap(({ name, severity, since: time, means, act }) => {
      const isNew = act !== '' && !acts.has(act);
      acts.add(act);
      return [
        ...wrap(`${severity.toUpperCase()} ${name} since ${since(time)}`),
        ...wrap(means, 4),
        ...wrap(isNew ? `To do: ${act}` : '', 4),
      ];
    });
    return [...wrap(none), ...told, ...unheard.flatMap((line) => wrap(line))];
  });
  const live = show(night.live, ({ commits, publishedAt, previous, rolledBack, left }) =>
    [
      `${commits}, ${commits.includes(' and ') ? 'the newest ' : ''}published ${since(publishedAt)}`,
      previous ? `Before it: ${previous.commit}, published ${since(previous.publishedAt)}` : '',
      rolledBack ? `Rolled back from ${rolledBack}.` : '',
      left.length > 0 ? `Left by a roll-back: ${left.join(', ')}` : '',
    ].flatMap((text) => wrap(text)),
  );
  const deployments = show(night.deployments, (ids) =>
    wrap(ids.length === 0 ? 'No deployment is under way.' : `Under way: ${ids.join(', ')}`),
  );
  const marks = show(night.left, () => []);
  const stack = show(night.stack, (status) => wrap(`Stack: ${status}`));
  const watch = show(night.watch, (status) => wrap(`Its watch stack: ${status || 'none'}`));
  const refused = show(night.refused, (lines) => lines.flatMap((line) => wrap(line)));
  const stopped = show(night.stopped, (ids) =>
    ids.flatMap((id) => wrap(`${id} is stopped: Lambda runs no call of it.`)),
  );
  const requests = show(night.requests, ({ operations, errors }) => [
    ...toColumns([
      ['  OPERATION', 'REQUESTS', '5XX', 'SHARE'],
      ...operations.map(({ operation, requests: all, failed }) => [
        `  ${operation}`,
        toCount(all),
        toCount(failed),
        all === 0 ? '-' : `${((100 * failed) / all).toFixed(1)}%`,
      ]),
    ]).split('\n'),
    ...operations
      .filter(({ requests: all, clientErrors }) => clientErrors > 0 && clientErrors >= all / 2)
      .flatMap(({ operation, requests: all, clientErrors }) =>
        wrap(`${operation}: ${toCount(clientErrors)} of ${toCount(all)} got a 4xx`),
      ),
    ...errors.flatMap(({ operation, count, error, requestId = 'not known' }) =>
      wrap(`${toCount(count)} x ${operation}: ${error}; request ${requestId}`),
    ),
  ]);
  const functions = show(night.functions, (found) =>
    found.flatMap(({ operation, crashed, refused: ofLambda, milliseconds, objective }) => {
      const facts = [
        crashed > 0 ? `${toCount(crashed)} crashed or timed out` : '',
        ofLambda > 0 ? `${toCount(ofLambda)} refused by Lambda` : '',
        milliseconds >= objective
          ? `the slowest 1% took ${toCount(milliseconds)} of ${toCount(objective)} ms`
          : '',
      ];
      return wrap(`${operation}: ${facts.filter(Boolean).join('; ')}`);
    }),
  );
  const throttles = show(night.throttles, (found) =>
    found.length === 0
      ? wrap('No table.')
      : found.flatMap(({ table, access, throttled, peak, maximum }) =>
          wrap(
            `${table}: ${toCount(throttled, access)} throttled; at most ${toCount(peak)} of ${toCount(maximum)} units/s used`,
          ),
        ),
  );
  const sections: readonly [title: string, lines: readonly string[]][] = [
    ['FIRING', alarms],
    ['LIVE', [...live, ...marks, ...deployments, ...stopped, ...stack, ...watch, ...refused]],
    ['REQUESTS of clients, last hour', [...requests, ...functions]],
    ['THROTTLED by DynamoDB, last hour', throttles],
    ['NEXT', [...wrap(next.why), ...(next.command ? ['', `  ${next.command}`] : [])]],
  ];
  const title = `${stage.name}, ${toShortTime(new Date(now).toISOString())}`;
  return [title, ...sections.flatMap(([name, lines]) => ['', name, ...lines])].join('\n');
}

/** Such as `02:47Z (17 min ago)`, with its day where it is another. */
function toMoment(time: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(time)) / 60_000);
  if (Number.isNaN(minutes)) return 'an unknown time';
  const hours = Math.floor(minutes / 60);
  const age =
    hours < 2 ? `${minutes} min` : hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
  const moment = toShortTime(time);
  return `${hours < 24 ? moment.slice(11) : moment} (${age} ago)`;
}

/** Wraps by words, later lines further in. Breaks a word only if it is wider than a line. Without words, there is no line. */
function toLines(text: string, width: number, indent: number): string[] {
  const longest = Math.max(width - 4, 20);
  const line = new RegExp(`\\S.{0,${longest - 1}}(?=\\s|$)|\\S{${longest}}`, 'gu');
  const lines = toPlain(text).replace(/\s+/g, ' ').match(line) ?? [];
  return lines.map((one, index) => ' '.repeat(index === 0 ? indent : 4) + one.trimEnd());
}
