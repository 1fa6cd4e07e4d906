import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import type { KeyRecord } from '../../../shared/keys/keyStore.ts';
import type { CannedEndpoints, CannedTable } from '../canned/cannedTable.ts';
import type { PartInput } from '../parts/part.ts';
import { type ChildProcess, startChild } from './childProcess.ts';
import { toFunctionEnvironment } from './functionEnvironment.ts';
import type { Loaded } from './functionProcess.ts';

/** A canned DynamoDB and functions on it, each in a process of its own. */
export interface FunctionHost {
  /** Valid, with write permission. */
  readonly apiKey: string;
  /** Sets how long the inventory is, and each answer takes. */
  setEntries(entries: number, delayMilliseconds?: number): Promise<void>;
  /** @param name what its CPU profile is called, if one is wanted */
  startFunction(bundle: string, name: string): Promise<ChildProcess<Loaded>>;
  /** As `startFunction`, on a DynamoDB that speaks TLS. */
  startSecureFunction(bundle: string, name: string): Promise<ChildProcess<Loaded>>;
  end(): Promise<void>;
}

export async function startFunctionHost({ bundles, profile }: PartInput): Promise<FunctionHost> {
  const canned = await startChild<CannedEndpoints>(
    new URL('../canned/cannedDynamoDB.ts', import.meta.url).pathname,
  );
  const { keyId, secretHash, apiKey } = mintApiKey();
  const key: KeyRecord = {
    keyId,
    secretHash,
    name: 'bench',
    permission: 'write',
    createdAt: new Date().toISOString(),
  };
  let started = 0;
  const toProfileOptions = (name: string) => {
    started += 1;
    const file = `${started}-${name.replaceAll(/\W+/g, '-')}.cpuprofile`;
    return profile === undefined
      ? []
      : ['--cpu-prof', `--cpu-prof-dir=${profile}`, `--cpu-prof-name=${file}`];
  };
  const setEntries = async (entries: number, delayMilliseconds = 0) => {
    const table: CannedTable = { entries, key: { ...key }, delayMilliseconds };
    await canned.ask(table);
  };
  await setEntries(50);
  const { endpoint, secureEndpoint, certificate } = canned.first;
  const trusted = join(dirname(bundles.functionProcess), 'certificate.pem');
  writeFileSync(trusted, certificate);
  const start = (bundle: string, name: string, environment: Record<string, string>) =>
    startChild<Loaded>(bundles.functionProcess, [bundle], {
      environment,
      nodeOptions: toProfileOptions(name),
    });
  return {
    apiKey,
    setEntries,
    startFunction: (bundle, name) => start(bundle, name, toFunctionEnvironment(endpoint)),
    startSecureFunction: (bundle, name) =>
      start(bundle, name, {
        ...toFunctionEnvironment(secureEndpoint),
        NODE_EXTRA_CA_CERTS: trusted,
      }),
    end: () => canned.end(),
  };
}
