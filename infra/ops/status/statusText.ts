import { toColumns, toCount, toPlain, toShortTime } from '../../cli/output.ts';
import type { Part } from '../../cli/stageStack.ts';
import { findReservedConcurrency } from '../../stages/concurrency.ts';
import type { Stage } from '../../stages/stages.ts';
import type { Status } from './readStatus.ts';
import { rotateCommand } from './rowCommands.ts';
import type { Row } from './symptoms.ts';

/** Lines that are longer are hard to read. */
const MAX_WIDTH = 100;

/** What is known of a stage. No line is wider than the terminal. */
export function toStatusText(stage: Stage, status: Status, now: number, columns: number): string {
  const layout = defineLayout(Math.min(columns, MAX_WIDTH), now);
  const { show } = layout;
  const sections: Readonly<Record<string, readonly string[]>> = {
    FIRING: listAlarms(stage, status, layout),
    LIVE: listLive(stage, status, layout),
    'REQUESTS of clients, last hour': listRequests(status, layout),
    'MOST REQUESTS by key, last hour': show(status.callers, ({ keys }) =>
      listCallers(keys, layout),
    ),
    'MOST REQUESTS by address, last hour': show(status.addresses, (found) => [
      ...listCallers(found, layout),
      ...layout.wrap(
        `These include what the gateway refused. The firewall is ${stage.settings.firewall ? 'on' : 'off'}.`,
      ),
    ]),
    'THROTTLED by DynamoDB, last hour': listThrottled(status, layout),
  };
  const title = `${stage.name}, ${toShortTime(new Date(now).toISOString())}`;
  const parts = Object.entries(sections).flatMap(([name, lines]) => ['', name, ...lines]);
  return [title, ...parts].join('\n');
}

/** What to do: the rows of the runbook that apply, each with its commands, which are one line to paste. */
export function toRowsText(stage: Stage, rows: readonly Row[]): string {
  const lines = rows.flatMap(({ row, title, commands }) => [
    `  ${row} ${title}`,
    ...commands.map(toPasted),
  ]);
  const none = ['  None. Row 8 is for a key that leaked.', toPasted(rotateCommand(stage))];
  return ['ROWS of infra/RUNBOOK.md that apply', ...(rows.length > 0 ? lines : none)].join('\n');
}

type Layout = ReturnType<typeof defineLayout>;

function defineLayout(width: number, now: number) {
  const wrap = (text: string, indent = 2) => wrapText(text, width, indent);
  return {
    wrap,
    wrapAll: (texts: readonly string[]) => texts.flatMap((text) => wrap(text)),
    since: (time: string) => toMoment(time, now),
    /** A part's lines, or why it could not be read. */
    show: <Value>(part: Part<Value>, toText: (value: Value) => string[]) =>
      'value' in part ? toText(part.value) : wrap(`Could not be read: ${part.unread}`),
  };
}

function listAlarms(
  stage: Stage,
  { alarms }: Status,
  { show, since, wrap, wrapAll }: Layout,
): string[] {
  return show(alarms, ({ total, withoutData, silence, firing }) => {
    if (total === 0) {
      const isMissing = stage.settings.raisesAlarms ? ', though its settings ask for them' : '';
      return wrap(`None: ${stage.name} has no alarms${isMissing}.`);
    }
    const noData = withoutData > 0 ? ` ${toCount(withoutData)} of them have no data.` : '';
    return [
      ...wrap(firing.length === 0 ? `None of ${toCount(total, 'alarm')}.${noData}` : ''),
      ...firing.flatMap(({ name, severity, since: time, means }) => [
        ...wrap(`${severity.toUpperCase()} ${name} since ${since(time)}`),
        ...wrap(means, 4),
      ]),
      ...wrapAll(silence),
    ];
  });
}

function listLive(stage: Stage, status: Status, { show, since, wrap, wrapAll }: Layout): string[] {
  return [
    ...show(status.live, ({ commits, publishedAt, rollbackTarget, ...facts }) =>
      wrapAll([
        `${commits}, ${commits.includes(' and ') ? 'the newest ' : ''}published ${since(publishedAt)}`,
        facts.missing.length > 0 ? `Not deployed: ${facts.missing.join(', ')}` : '',
        facts.rolledBackFrom ? `Rolled back from ${facts.rolledBackFrom}.` : '',
        rollbackTarget
          ? `Rollback target: ${rollbackTarget.commit}, published ${since(rollbackTarget.publishedAt)}`
          : '',
        facts.knownBad.length > 0 ? `Known bad: ${facts.knownBad.join(', ')}` : '',
        ...facts.unread.map((line) => `Could not be read: ${line}`),
      ]),
    ),
    ...show(status.deployments, (ids) =>
      wrap(ids.length === 0 ? 'No deployment is under way.' : `Under way: ${ids.join(', ')}`),
    ),
    ...show(status.stopped, (ids) =>
      ids.flatMap((id) => {
        const reserved = findReservedConcurrency(stage.settings, id);
        const usual = reserved ? ` Its reservedConcurrency is ${reserved}.` : '';
        return wrap(`${id} is stopped: Lambda runs no call of it.${usual}`);
      }),
    ),
    ...show(status.tables, (found) =>
      wrapAll(found.map(({ table, state }) => `Table ${table}: ${state}`)),
    ),
    ...show(status.stack, (state) => wrap(`Stack: ${state}`)),
    ...show(status.watch, (state) => wrap(`Its watch stack: ${state || 'none'}`)),
    ...show(status.refused, wrapAll),
  ];
}

function listRequests(status: Status, { show, wrap }: Layout): string[] {
  return [
    ...show(status.requests, ({ operations, errors, refusedChecks }) => [
      ...toColumns([
        ['  OPERATION', 'REQUESTS', '5XX', 'SHARE'],
        ...operations.map(({ operation, requests, failed }) => [
          `  ${operation}`,
          toCount(requests),
          toCount(failed),
          requests === 0 ? '-' : `${((100 * failed) / requests).toFixed(1)}%`,
        ]),
      ]).split('\n'),
      ...wrap(refusedChecks > 0 ? `The scheduled check: ${toCount(refusedChecks)} got a 401` : ''),
      ...operations
        .filter(({ requests, clientErrors }) => clientErrors > 0 && clientErrors >= requests / 2)
        .flatMap(({ operation, requests, clientErrors }) =>
          wrap(`${operation}: ${toCount(clientErrors)} of ${toCount(requests)} got a 4xx`),
        ),
      ...errors.flatMap(({ operation, count, error, requestId = 'not known' }) =>
        wrap(`${toCount(count)} x ${operation}: ${error}; request ${requestId}`),
      ),
    ]),
    ...show(status.functions, (found) =>
      found.flatMap(({ operation, crashed, refused, milliseconds, objective }) => {
        const facts = [
          crashed > 0 ? `${toCount(crashed)} crashed or timed out` : '',
          refused > 0 ? `${toCount(refused)} refused by Lambda` : '',
          milliseconds >= objective
            ? `the slowest 1% took ${toCount(milliseconds)} of ${toCount(objective)} ms`
            : '',
        ];
        return wrap(`${operation}: ${facts.filter(Boolean).join('; ')}`);
      }),
    ),
  ];
}

type Callers = Extract<Status['addresses'], { value: unknown }>['value'];

function listCallers(callers: Callers, { wrap }: Layout): string[] {
  if (callers.length === 0) return wrap('Nobody.');
  return callers.flatMap(({ name, requests, statuses }) => {
    const counts = statuses.map(({ status, count }) => `${toCount(count)} x ${status}`);
    return wrap(`${name}: ${toCount(requests)} (${counts.join(', ')})`);
  });
}

function listThrottled({ throttles, callers }: Status, { show, wrap }: Layout): string[] {
  return [
    ...show(throttles, (found) =>
      found.length === 0
        ? wrap('No table.')
        : found.flatMap(({ table, access, throttled, peak, maximum, limit = 'no known limit' }) =>
            wrap(
              `${table}: ${toCount(throttled, access)} throttled by ${limit}; at most ${toCount(peak)} of ${toCount(maximum)} units/s used`,
            ),
          ),
    ),
    ...show(callers, ({ refused }) =>
      wrap(
        refused.length > 0
          ? `503 for ${refused.map(({ path, count }) => `${path} (${toCount(count)})`).join(', ')}`
          : '',
      ),
    ),
  ];
}

const toPasted = (command: string) => `    ${toPlain(command)}`;

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
function wrapText(text: string, width: number, indent: number): string[] {
  const longest = Math.max(width - 4, 20);
  const line = new RegExp(`\\S.{0,${longest - 1}}(?=\\s|$)|\\S{${longest}}`, 'gu');
  const lines = toPlain(text).replace(/\s+/g, ' ').match(line) ?? [];
  return lines.map((one, index) => ' '.repeat(index === 0 ? indent : 4) + one.trimEnd());
}
