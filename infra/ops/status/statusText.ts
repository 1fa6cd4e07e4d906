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
  const sections: Readonly<Record<string, readonly string[]>> = {
    FIRING: listAlarms(stage, status, now),
    LIVE: listLive(stage, status, now),
    'REQUESTS of clients, last hour': listRequests(status),
    'MOST REQUESTS by key, last hour': show(status.callers, ({ keys }) => listCallers(keys)),
    'MOST REQUESTS by address, last hour': show(status.addresses, (found) => [
      ...listCallers(found),
      `These include what the gateway refused. The firewall is ${stage.settings.firewall ? 'on' : 'off'}.`,
    ]),
    'THROTTLED by DynamoDB, last hour': listThrottled(status),
  };
  const title = `${stage.name}, ${toShortTime(new Date(now).toISOString())}`;
  const width = Math.min(columns, MAX_WIDTH);
  const parts = Object.entries(sections).flatMap(([name, lines]) => [
    '',
    name,
    ...lines.flatMap((line) => wrapText(line, width)),
  ]);
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

/** A part's lines, or why it could not be read. */
function show<Value>(part: Part<Value>, toLines: (value: Value) => string[]): string[] {
  return 'value' in part ? toLines(part.value) : [`Could not be read: ${part.unread}`];
}

function listAlarms(stage: Stage, { alarms }: Status, now: number): string[] {
  return show(alarms, ({ total, withoutData, silence, firing }) => {
    if (total === 0) {
      const isMissing = stage.settings.raisesAlarms ? ', though its settings ask for them' : '';
      return [`None: ${stage.name} has no alarms${isMissing}.`];
    }
    const noData = withoutData > 0 ? ` ${toCount(withoutData)} of them have no data.` : '';
    return [
      firing.length === 0 ? `None of ${toCount(total, 'alarm')}.${noData}` : '',
      ...firing.flatMap(({ name, severity, since, means }) => [
        `${severity.toUpperCase()} ${name} since ${toMoment(since, now)}`,
        `    ${means}`,
      ]),
      ...silence,
    ];
  });
}

function listLive(stage: Stage, status: Status, now: number): string[] {
  return [
    ...show(status.live, ({ commits, publishedAt, rollbackTarget, ...facts }) => [
      `${commits}, ${commits.includes(' and ') ? 'the newest ' : ''}published ${toMoment(publishedAt, now)}`,
      facts.missing.length > 0 ? `Not deployed: ${facts.missing.join(', ')}` : '',
      facts.rolledBackFrom ? `Rolled back from ${facts.rolledBackFrom}.` : '',
      rollbackTarget
        ? `Rollback target: ${rollbackTarget.commit}, published ${toMoment(rollbackTarget.publishedAt, now)}`
        : '',
      facts.knownBad.length > 0 ? `Known bad: ${facts.knownBad.join(', ')}` : '',
      ...facts.unread.map((line) => `Could not be read: ${line}`),
    ]),
    ...show(status.deployments, (ids) => [
      ids.length === 0 ? 'No deployment is under way.' : `Under way: ${ids.join(', ')}`,
    ]),
    ...show(status.stopped, (ids) =>
      ids.map((id) => {
        const reserved = findReservedConcurrency(stage.settings, id);
        const usual = reserved ? ` Its reservedConcurrency is ${reserved}.` : '';
        return `${id} is stopped: Lambda runs no call of it.${usual}`;
      }),
    ),
    ...show(status.tables, (found) => found.map(({ table, state }) => `Table ${table}: ${state}`)),
    ...show(status.stack, (state) => [`Stack: ${state}`]),
    ...show(status.watch, (state) => [`Its watch stack: ${state || 'none'}`]),
    ...show(status.refused, (reasons) => reasons),
  ];
}

function listRequests(status: Status): string[] {
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
      refusedChecks > 0 ? `The scheduled check: ${toCount(refusedChecks)} got a 401` : '',
      ...operations
        .filter(({ requests, clientErrors }) => clientErrors > 0 && clientErrors >= requests / 2)
        .map(
          ({ operation, requests, clientErrors }) =>
            `${operation}: ${toCount(clientErrors)} of ${toCount(requests)} got a 4xx`,
        ),
      ...errors.map(
        ({ operation, count, error, requestId = 'not known' }) =>
          `${toCount(count)} x ${operation}: ${error}; request ${requestId}`,
      ),
    ]),
    ...show(status.functions, (found) =>
      found.map(({ operation, crashed, refused, milliseconds, objective }) => {
        const facts = [
          crashed > 0 ? `${toCount(crashed)} crashed or timed out` : '',
          refused > 0 ? `${toCount(refused)} refused by Lambda` : '',
          milliseconds >= objective
            ? `the slowest 1% took ${toCount(milliseconds)} of ${toCount(objective)} ms`
            : '',
        ];
        return `${operation}: ${facts.filter(Boolean).join('; ')}`;
      }),
    ),
  ];
}

type Callers = Extract<Status['addresses'], { value: unknown }>['value'];

function listCallers(callers: Callers): string[] {
  if (callers.length === 0) return ['Nobody.'];
  return callers.map(({ name, requests, statuses }) => {
    const counts = statuses.map(({ status, count }) => `${toCount(count)} x ${status}`);
    return `${name}: ${toCount(requests)} (${counts.join(', ')})`;
  });
}

function listThrottled({ throttles, callers }: Status): string[] {
  return [
    ...show(throttles, (found) =>
      found.length === 0
        ? ['No table.']
        : found.map(
            ({ table, access, throttled, peak, maximum, limit = 'no known limit' }) =>
              `${table}: ${toCount(throttled, access)} throttled by ${limit}; at most ${toCount(peak)} of ${toCount(maximum)} units/s used`,
          ),
    ),
    ...show(callers, ({ refused }) => {
      const paths = refused.map(({ path, count }) => `${path} (${toCount(count)})`);
      return paths.length > 0 ? [`503 for ${paths.join(', ')}`] : [];
    }),
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

/** Wraps by words, later lines further in. Breaks a word only if it is wider than a line. An empty text is no line. */
function wrapText(text: string, width: number): string[] {
  const [indent] = /^ */.exec(text) ?? [];
  const longest = Math.max(width - 4, 20);
  const line = new RegExp(`\\S.{0,${longest - 1}}(?=\\s|$)|\\S{${longest}}`, 'gu');
  const lines = toPlain(text).match(line) ?? [];
  return lines.map((one, index) => (index === 0 ? indent || '  ' : '    ') + one.trimEnd());
}
