import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect } from 'vitest';
import { findResponseProblems } from '../../infra/docs/openapi/responseProblems.ts';
import { type Engine, startEmbeddedEngine } from '../../infra/local/engine/engine.ts';
import {
  type LoadModule,
  type LocalStageOptions,
  startLocalStage,
} from '../../infra/local/localStage.ts';
import type { StoreData } from '../../infra/local/storeData.ts';
import type { Permission } from '../../shared/contract/operation.ts';
import type { OperationId } from '../../shared/contract/operations.ts';
import { defineKeyRegister } from '../../shared/keys/keyRegister.ts';
import { readVariable } from '../../shared/runtime/environment.ts';
import type { ExactResponse } from '../support/exactFetch.ts';
import type { Certificate } from '../support/faults/certificate.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../support/faults/faultyEndpoint.ts';
import { suites } from './operations/suites.ts';
import { type ConformanceTarget, fixtures } from './target.ts';

/** A local stage in this process, with the fixtures unless the options have other data. */
export async function openLocalTarget(
  options: Partial<LocalStageOptions> = {},
): Promise<ConformanceTarget> {
  const stage = await startLocalStage({
    port: 0,
    startEngine: startEmbeddedEngine,
    loadModule: defineFreshFunctions(),
    data: fixtures,
    ...options,
  });
  return {
    baseUrl: stage.baseUrl,
    apiKey: stage.apiKey,
    readOnlyApiKey: await addApiKey('read'),
    origin: 'https://www.petstore.example',
    fixtures,
    onResponse: expectDocumented,
    close: () => stage.close(),
  };
}

/** Checks a response against the committed document. */
export function expectDocumented(method: string, path: string, response: ExactResponse): void {
  expect(findResponseProblems(method, path, response), `${method} ${path}`).toEqual([]);
}

let stages = 0;

/**
 * Functions for one stage alone: they read their settings when they load, and many stages run in this process in
 * sequence.
 */
export function defineFreshFunctions(): LoadModule {
  stages += 1;
  const query = `?stage=${stages}`;
  return (operationId) => {
    const { href } = new URL(`../../functions/${operationId}.ts${query}`, import.meta.url);
    return import(/* @vite-ignore */ href);
  };
}

export async function addApiKey(permission: Permission): Promise<string> {
  const client = new DynamoDBClient();
  const register = defineKeyRegister(client, readVariable('API_KEYS_TABLE'));
  const { apiKey } = await register.create({ name: 'test', permission });
  client.destroy();
  return apiKey;
}

export interface FaultyTarget extends ConformanceTarget {
  readonly store: FaultyEndpoint;
}

/** The call that a valid request of an operation makes to its own table, as a rule of the faulty endpoint. */
export function toStoreCalls(operationId: OperationId): { action: string; table: string } {
  const [[table = '', [action = ''] = []] = []] = Object.entries(suites[operationId].access);
  return { action: action.replace('dynamodb:', ''), table };
}

/**
 * A local stage with a database that can fail. `identity` makes the database speak TLS, and `define` makes the
 * functions.
 */
export async function openFaultyStage(
  data: StoreData = fixtures,
  startEngine: () => Promise<Engine> = startEmbeddedEngine,
  identity?: Certificate,
  define = (_: FaultyEndpoint) => defineFreshFunctions(),
): Promise<FaultyTarget> {
  const engine = await startEngine();
  const store = await startFaultyEndpoint(engine.endpoint, identity);
  const close = async () => {
    await store.close();
    await engine.close();
  };
  const target = await openLocalTarget({
    data,
    startEngine: async () => ({ ...engine, endpoint: store.endpoint, close }),
    loadModule: define(store),
  });
  return { ...target, store };
}
