import { setTimeout } from 'node:timers/promises';

// Lets a job of GitHub Actions deploy only while no other run of its workflow deploys the same stage, and never after a
// later run did: that one had newer code. GitHub's own `concurrency` would also count a run that waits for approval. It
// is JavaScript without packages, since it runs beside credentials, where nothing is installed.
const {
  GITHUB_API_URL,
  GITHUB_JOB,
  GITHUB_REPOSITORY,
  GITHUB_RUN_ID,
  GITHUB_RUN_NUMBER,
  GITHUB_TOKEN,
  POLL_SECONDS = '20',
} = process.env;
const own = Number(GITHUB_RUN_NUMBER);

async function read(path) {
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/actions/${path}`, {
    headers: { Accept: 'application/vnd.github+json', Authorization: `Bearer ${GITHUB_TOKEN}` },
  });
  if (!response.ok) throw new Error(`GitHub returned ${response.status} for ${path}`);
  return await response.json();
}

/** The step "Deploy" of the same job, in each attempt of a run that got so far. */
async function findDeployments({ id }) {
  const { jobs } = await read(`runs/${id}/jobs?filter=all&per_page=100`);
  return jobs
    .filter(({ name }) => name === GITHUB_JOB)
    .flatMap(({ steps = [] }) => steps)
    .filter(({ name, status, conclusion }) => {
      const isStarted = status === 'in_progress' || status === 'completed';
      return name === 'Deploy' && isStarted && conclusion !== 'skipped';
    });
}

/** @returns the earlier run that deploys now, if any @throws {Error} if a later run has deployed, or does */
async function findRunning(workflow) {
  const { workflow_runs: runs } = await read(`workflows/${workflow}/runs?per_page=100`);
  let running;
  for (const run of runs) {
    const isLater = run.run_number > own;
    // What is over does not matter, unless it was later.
    if (run.run_number === own || (!isLater && run.status === 'completed')) continue;
    const deployments = await findDeployments(run);
    if (isLater && deployments.length > 0) {
      throw new Error(
        `run ${run.run_number} has deployed newer code. Start a new run, or go back by npx petstore rollback`,
      );
    }
    if (deployments.some(({ status }) => status === 'in_progress')) running = run;
  }
  return running;
}

try {
  const { workflow_id: workflow } = await read(`runs/${GITHUB_RUN_ID}`);
  for (;;) {
    const running = await findRunning(workflow);
    if (!running) break;
    process.stdout.write(`Waiting for run ${running.run_number}, which deploys.\n`);
    await setTimeout(Number(POLL_SECONDS) * 1_000);
  }
} catch (error) {
  process.stdout.write(`Nothing was deployed: ${error.message}.\n`);
  process.exitCode = 1;
}
