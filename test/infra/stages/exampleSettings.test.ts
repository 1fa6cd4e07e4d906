import { afterEach, describe, expect, it, vi } from 'vitest';
import { buildApp } from '../../../infra/buildApp.ts';
import { findExampleSettings } from '../../../infra/stages/checkStageSettings.ts';
import { changeProduction, fixtures } from '../../support/stageFixtures.ts';

const { production, staging } = fixtures;
const line =
  'infra/stages/stages.ts: examples of ours stand in baseAddress, documentationAddress, allowedOrigins of production; set your own before you deploy.';
const owned = changeProduction({
  baseAddress: 'https://api.shop.example/v1',
  documentationAddress: 'https://docs.shop.example',
  allowedOrigins: ['https://shop.example'],
});

afterEach(() => vi.unstubAllEnvs());

it('names the settings of production that are examples still', () => {
  expect(findExampleSettings(production)).toBe(line);
  expect(findExampleSettings(owned)).toBeUndefined();
});

describe('synthesizing production', () => {
  it.each([
    [
      'stops at them where there is an account to deploy to',
      '123456789012',
      production,
      [line],
      [],
    ],
    ['warns of them at a first look, without credentials', undefined, production, [], [line]],
    ['has nothing to say of addresses of one’s own', '123456789012', owned, [], []],
    ['has nothing to say of staging', '123456789012', staging, [], []],
  ])('%s', (_, account, stage, errors, warnings) => {
    vi.stubEnv('CDK_DEFAULT_ACCOUNT', account);
    const app = buildApp({ context: { 'aws:cdk:bundling-stacks': [] } }, [stage]);
    const { metadata } = app.node.findChild(`petstore-${stage.name}`).node;
    const toLines = (type: string) =>
      metadata
        .filter((entry) => entry.type === type)
        .map(({ data }) => String(data))
        .filter((text) => text.includes('examples'));
    expect(toLines('aws:cdk:error')).toEqual(errors);
    expect(toLines('aws:cdk:warning')).toEqual(
      warnings.map((text) => expect.stringContaining(text)),
    );
  });
});
