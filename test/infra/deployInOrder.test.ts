import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { projectRoot } from '../../infra/stages/projectRoot.ts';
import { serve } from './ops/aws.ts';
import { callOps } from './ops/opsProcess.ts';

type State = 'queued' | 'deploying' | 'success' | 'failure' | 'skipped' | 'waiting';

/** A job of a run, as GitHub's API describes it. One that waits for approval has no steps. */
function toJob(state: State, name = 'production') {
  const step = {
    queued: { status: 'queued', conclusion: null },
    deploying: { status: 'in_progress', conclusion: null },
    success: { status: 'completed', conclusion: 'success' },
    failure: { status: 'completed', conclusion: 'failure' },
    skipped: { status: 'completed', conclusion: 'skipped' },
    waiting: undefined,
  }[state];
  const before = { name: 'Set up job', status: 'completed', conclusion: 'success' };
  return { name, status: state, steps: step ? [before, { name: 'Deploy', ...step }] : [] };
}
type Job = ReturnType<typeof toJob>;

type Run = (env: Record<string, string>) => Promise<{ status: unknown; output: string }>;

const file = join(projectRoot, 'infra/deployInOrder.js');

/** As the workflow does. */
const inOwnProcess: Run = async (env) => {
  const child = spawn(process.execPath, [file], { env });
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { status, output };
};

let runs = 0;
/** A tenth of the work. */
const inThisProcess: Run = async (env) => {
  runs += 1;
  const load = () => import(/* @vite-ignore */ `${file}?${runs}`);
  const { status, stdout } = await callOps(load, [], env);
  return { status, output: stdout };
};

/**
 * Runs the step of run 5's job `production`, beside other runs.
 * @param moments the jobs of each run, each time they are read; the last stays
 */
async function runStep(moments: Record<number, Job[]>[], run = inThisProcess, broken = false) {
  const paths: string[] = [];
  const jobs = () => (moments.length > 1 ? moments[0] : moments.at(-1)) ?? {};
  using github = await serve((request, response) => {
    const path = request.url?.replace('/repos/shop/petstore/actions/', '') ?? '';
    expect(request.headers.authorization).toBe('Bearer token');
    paths.push(path);
    if (broken) return response.writeHead(502).end();
    const [, number] = /^runs\/10(\d)\/jobs\?filter=all/.exec(path) ?? [];
    if (number) return response.end(JSON.stringify({ jobs: jobs()[Number(number)] }));
    if (path === 'runs/105') return response.end('{"workflow_id":9}');
    expect(path).toBe('workflows/9/runs?per_page=100');
    if (paths.length > 2) moments.splice(0, moments.length > 1 ? 1 : 0);
    const numbers = [...Object.keys(jobs()), '5'].map(Number);
    const workflow_runs = numbers.map((run_number) => ({
      id: 100 + run_number,
      run_number,
      status: jobs()[run_number]?.some(({ status }) => /ing|queued/.test(status))
        ? 'in_progress'
        : 'completed',
    }));
    return response.end(JSON.stringify({ workflow_runs }));
  });
  return await run({
    GITHUB_API_URL: github.address,
    GITHUB_REPOSITORY: 'shop/petstore',
    GITHUB_RUN_ID: '105',
    GITHUB_RUN_NUMBER: '5',
    GITHUB_JOB: 'production',
    GITHUB_TOKEN: 'token',
    POLL_SECONDS: '0.01',
  });
}

const passed = { status: 0, output: '' };
const refused = {
  status: 1,
  output:
    'Nothing was deployed: run 6 has deployed newer code. Start a new run, or go back by npx petstore rollback.\n',
};

it.each<[string, typeof passed, Record<number, Job[]>]>([
  ['passes alone', passed, {}],
  ['passes an earlier run that waits for approval', passed, { 4: [toJob('waiting')] }],
  ['passes an earlier run that has deployed', passed, { 4: [toJob('success')] }],
  ['passes a later run that waits for approval', passed, { 6: [toJob('waiting')] }],
  ['passes a later run that is not yet so far', passed, { 6: [toJob('queued')] }],
  ['passes a later run that was refused', passed, { 6: [toJob('skipped')] }],
  ['passes a later run of another stage', passed, { 6: [toJob('success', 'staging')] }],
  ['is refused after a later run', refused, { 6: [toJob('success')] }],
  ['is refused while a later run deploys', refused, { 6: [toJob('deploying')] }],
  ['is refused after a later run that failed', refused, { 6: [toJob('failure')] }],
  [
    'is refused after an attempt of a later run',
    refused,
    { 7: [toJob('waiting')], 6: [toJob('failure'), toJob('waiting')] },
  ],
])('a deployment %s', async (_, outcome, runs) => {
  expect(await runStep([runs])).toEqual(outcome);
});

it('a deployment waits for an earlier one, and for no longer', async () => {
  const deploying = { 4: [toJob('deploying')] };
  const moments = [deploying, deploying, { 4: [toJob('success')] }];
  expect(await runStep(moments, inOwnProcess)).toEqual({
    status: 0,
    output: 'Waiting for run 4, which deploys.\n'.repeat(2),
  });
  const later = { 4: [toJob('success')], 6: [toJob('deploying')] };
  expect((await runStep([deploying, later])).status).toBe(1);
});

it('nothing is deployed if GitHub does not say what else does', async () => {
  const output = 'Nothing was deployed: GitHub returned 502 for runs/105.\n';
  expect(await runStep([{}], inOwnProcess, true)).toEqual({ status: 1, output });
});
