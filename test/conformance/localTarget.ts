import { startEmbeddedEngine } from '../../infra/local/engine/engine.ts';
import { type LocalStageOptions, startLocalStage } from '../../infra/local/localStage.ts';
import { addApiKey } from '../support/addApiKey.ts';
import { expectDocumented } from './document/documentedAnswer.ts';
import { fixtures } from './fixtures.ts';
import { defineFreshFunctions } from './freshFunctions.ts';
import type { ConformanceTarget } from './target.ts';

/** A local stage in this process, filled with the fixtures unless the options have other data. */
export async function openLocalTarget(
  options: Partial<LocalStageOptions> = {},
): Promise<ConformanceTarget> {
  const stage = await startLocalStage({
    port: 0,
    startEngine: startEmbeddedEngine,
    loadHandler: defineFreshFunctions(),
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
