import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { projectRoot } from '../../../../infra/stages/projectRoot.ts';
import { mintApiKey } from '../../../../shared/keys/apiKey.ts';
import {
  changedProduction,
  findProperties,
  type StageTemplates,
  synthesizeProduction,
  templates,
} from '../../../support/stackTemplates.ts';
import { changedSettings, fixtures } from '../../../support/stageFixtures.ts';

// WAF's statements, played by its documentation, decide which rule counts a request, and under which key:
// https://docs.aws.amazon.com/waf/latest/developerguide/waf-rule-statement-transformation.html

interface Request {
  readonly method: string;
  readonly path: string;
  readonly authorization?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a template is read as JSON.
type Json = any;

const transformations: Readonly<Record<string, (text: string) => string>> = {
  NONE: (text) => text,
  LOWERCASE: (text) => text.toLowerCase(),
  COMPRESS_WHITE_SPACE: (text) => text.replaceAll(/[\f\t\n\r\v\u00a0 ]+/g, ' '),
  URL_DECODE: (text) =>
    text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
  // Doubled slashes, and references to the folder itself or the one above it.
  NORMALIZE_PATH: (text) => posix.normalize(text).replace(/^\/+/, '/'),
};

function transform(text: string, steps: Json[]): string {
  const inOrder = steps.toSorted((one, other) => one.Priority - other.Priority);
  return inOrder.reduce((result, { Type }) => {
    const step = transformations[Type];
    if (!step) throw new Error(`This test does not know the transformation ${Type}.`);
    return step(result);
  }, text);
}

function readField(request: Request, field: Json): string | undefined {
  if (field.UriPath) return request.path;
  if (field.Method) return request.method;
  expect(field.SingleHeader).toEqual({ Name: 'authorization' });
  return request.authorization;
}

function matches(request: Request, statement: Json): boolean {
  const [[kind, own], ...others] = Object.entries<Json>(statement) as [[string, Json]];
  expect(others).toEqual([]);
  if (kind === 'AndStatement') return own.Statements.every((one: Json) => matches(request, one));
  if (kind === 'NotStatement') return !matches(request, own.Statement);
  expect(kind).toBe('RegexMatchStatement');
  const text = readField(request, own.FieldToMatch);
  // A component that the request lacks matches nothing.
  if (text === undefined) return false;
  return new RegExp(own.RegexString).test(transform(text, own.TextTransformations));
}

/** What a rule counts a request under; `undefined` if it does not count it. */
function toAggregate(request: Request, { Statement }: Json): string | undefined {
  const { AggregateKeyType, CustomKeys, ScopeDownStatement } = Statement.RateBasedStatement;
  if (ScopeDownStatement && !matches(request, ScopeDownStatement)) return undefined;
  if (AggregateKeyType === 'IP') return 'its address';
  expect([AggregateKeyType, CustomKeys]).toEqual(['CUSTOM_KEYS', [expect.anything()]]);
  const [{ Header }] = CustomKeys;
  expect(Header.Name).toBe('authorization');
  return request.authorization && transform(request.authorization, Header.TextTransformations);
}

const { throttles } = fixtures.production.settings;
const findAcl = ({ service }: StageTemplates) => findProperties(service, 'AWS::WAFv2::WebACL')[0];
const withFirewall = synthesizeProduction({ firewall: true });
const acl = findAcl(withFirewall);
const changed = findAcl(changedProduction());
/** Few lists, and pages of any origin. */
const slow = findAcl(
  synthesizeProduction({
    firewall: true,
    throttles: { ...throttles, listInventory: { rate: 0.1, burst: 1 } },
    allowedOrigins: ['*'],
  }),
);
/** Any address could use up any throttle. */
const withLowestLimit = synthesizeProduction({
  firewall: true,
  firewallRequestsPerAddress: 30_000,
});
const lowest = findAcl(withLowestLimit);
const filterRateRules = (rules: Json[]) =>
  rules.filter((rule) => rule.Statement.RateBasedStatement);
const rateRules = filterRateRules(acl.Rules);
const toCounted = (request: Request, rules: Json[] = rateRules): string[] =>
  filterRateRules(rules).flatMap((rule) => (toAggregate(request, rule) ? rule.Name : []));

const { apiKey } = mintApiKey();
const authorization = `Bearer ${apiKey}`;

/** Paths that API Gateway takes for the inventory's, and what a proxy or a client may make of them. */
const spellings = [
  ...['/v1/inventory', '/v1/inventory/', '/v1//inventory', '//v1/inventory', '/v1/inventory//'],
  ...['/v1/%69nventory', '/v1/inventor%79', '/v1/%69%6E%76entory/', '/%761/inventory'],
  ...['/v1/./inventory', '/v1/store/../inventory', '/v1/%2e/inventory', '/v1%2Finventory'],
];

describe('the firewall', () => {
  it.each(spellings)('counts a list at %s, with a key, by key and by address', (path) => {
    const counted = toCounted({ method: 'GET', path, authorization });
    expect(counted).toEqual(['flood', 'lists-of-key', 'lists-of-address']);
  });

  it.each([
    ['GET', '/v1/inventory/7'],
    ['GET', '/v1/store/orders/1'],
    ['GET', '/v1/Inventory'],
    ['PATCH', '/v1/inventory'],
    ['OPTIONS', '/v1/inventory'],
  ])('counts %s %s, with a key, only as part of a flood', (method, path) => {
    expect(toCounted({ method, path, authorization })).toEqual(['flood']);
  });

  it.each([
    undefined,
    '',
    'Bearer',
    `Basic ${apiKey}`,
    `Bearer ${apiKey.slice(0, -1)}`,
    `Bearer ${apiKey}0`,
    `Bearer ${apiKey.replace('psk_', 'psk-')}`,
    `${authorization}, ${authorization}`,
  ])('counts a request with the credentials %s as one without a key', (sent) => {
    const request = { path: '/v1/inventory', ...(sent !== undefined && { authorization: sent }) };
    expect(toCounted({ ...request, method: 'GET' })).toEqual(['flood', 'keyless']);
    expect(toCounted({ ...request, method: 'DELETE', path: '/' })).toEqual(['flood', 'keyless']);
    // A browser sends no key with a preflight.
    expect(toCounted({ ...request, method: 'OPTIONS' })).toEqual(['flood']);
  });

  it.each([
    ['GET', '/v1/store/orders', 'listOrders', acl],
    ['GET', '/v1//%73tore/orders/', 'listOrders', acl],
    ['GET', '/v1/inventory/-7/', 'getInventoryEntry', lowest],
    ['PATCH', '/v1/inventory/7', 'updateInventory', lowest],
    ['POST', '/v1/inventory/adjustments', 'adjustInventory', lowest],
  ])(
    'counts %s %s, with a key, by address if one could use up %s',
    (method, path, id, { Rules }) => {
      const request = { method, path, authorization };
      expect(toCounted(request, Rules)).toEqual(['flood', `${id}-of-address`]);
    },
  );

  it('counts all spellings of a key together, and no two keys', () => {
    const byKey = rateRules.find(({ Name }) => Name === 'lists-of-key');
    const toKey = (sent: string) =>
      toAggregate({ method: 'GET', path: '/v1/inventory', authorization: sent }, byKey);
    const spelled = ['Bearer ', 'bearer ', 'BEARER ', 'Bearer   '].map((scheme) => scheme + apiKey);
    expect(new Set(spelled.map(toKey))).toEqual(new Set([toKey(authorization)]));
    expect(toKey(`Bearer ${mintApiKey().apiKey}`)).not.toBe(toKey(authorization));
  });

  it('allows an address 3,000 requests a minute, and two thirds of what it could use up', () => {
    expect(toLimits(acl)).toEqual({
      ...{ flood: 3_000, keyless: 60 },
      'lists-of-key': 40 * throttles.listInventory.rate,
      'lists-of-address': 40 * throttles.listInventory.rate,
      'listOrders-of-address': 40 * throttles.listOrders.rate,
    });
    // The least that WAF takes.
    expect(toLimits(slow)).toMatchObject({ 'lists-of-key': 10, 'lists-of-address': 10 });
  });

  it('has no more rules than AWS allows where one address could use up any throttle', () => {
    expect(filterRateRules(lowest.Rules).length).toBeLessThanOrEqual(10);
    expect(toLimits(lowest)).toMatchObject({
      'updateInventory-of-address': 40 * throttles.updateInventory.rate,
    });
  });

  // The address of a proxy has all clients.
  it('has the limits of the settings, and none by operation behind a proxy', () => {
    expect(toLimits(changed)).toEqual({
      flood: 50_000,
      keyless: 60,
      'lists-of-key': 120,
      'lists-of-address': 120,
    });
  });

  it('refuses what its rate rules count with 429, the Error body and Retry-After', () => {
    for (const { Action, Statement } of rateRules) {
      expect(Statement.RateBasedStatement.EvaluationWindowSec).toBe(60);
      const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = Action.Block.CustomResponse;
      expect(ResponseCode).toBe(429);
      const { ContentType, Content } = acl.CustomResponseBodies[CustomResponseBodyKey];
      expect(ContentType).toBe('APPLICATION_JSON');
      const message = 'There are too many requests at once; try again shortly.';
      expect(JSON.parse(Content)).toEqual({ code: 'too_many_requests', message, status: 429 });
      expect(ResponseHeaders).toContainEqual({ Name: 'Retry-After', Value: '60' });
    }
  });

  // A response of WAF is fixed text, and a browser takes one origin or `*`.
  it.each([
    [['*'], '*', slow],
    [fixtures.production.settings.allowedOrigins, 'https://www.petstore.example', acl],
    [changedSettings.allowedOrigins, undefined, changed],
  ] as const)('with the origins %j, lets pages of %s read a refusal', (_, origin, { Rules }) => {
    const headers = filterRateRules(Rules)[0].Action.Block.CustomResponse.ResponseHeaders.map(
      ({ Name, Value }: Json) => [Name, Value],
    );
    expect(Object.fromEntries(headers)).toEqual({
      'Retry-After': '60',
      ...(origin && {
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': expect.stringMatching(/\bRetry-After\b/),
      }),
    });
  });

  it('leaves the 403 to AWS’s groups, after the rate rules', () => {
    const groups = acl.Rules.filter((rule: Json) => rule.Statement.ManagedRuleGroupStatement);
    expect(groups.map(({ OverrideAction }: Json) => OverrideAction)).toEqual([
      { None: {} },
      { None: {} },
    ]);
    const last = Math.max(...rateRules.map(({ Priority }) => Priority));
    for (const { Priority } of groups) expect(Priority).toBeGreaterThan(last);
    expect(acl.Rules).toHaveLength(1 + rateRules.length + 2);
  });

  it('blocks the addresses of two sets before all else, with the 403 of the gateway', () => {
    const [rule] = acl.Rules;
    expect(acl.Rules.map(({ Priority }: Json) => Priority)).toEqual([...acl.Rules.keys()]);
    expect(rule.Action).toEqual({ Block: {} });
    const arns = ['BlockedV4', 'BlockedV6'].map((id) => ({ 'Fn::GetAtt': [id, 'Arn'] }));
    const Statements = arns.map((Arn) => ({ IPSetReferenceStatement: { Arn } }));
    expect(rule.Statement).toEqual({ OrStatement: { Statements } });
    const error = findProperties(withFirewall.service, 'AWS::ApiGateway::GatewayResponse').find(
      ({ ResponseType }) => ResponseType === 'WAF_FILTERED',
    );
    expect(error?.StatusCode).toBe('403');
  });

  it('hashes API keys in the requests that it keeps as samples', () => {
    expect(acl.DataProtectionConfig.DataProtections).toContainEqual(
      expect.objectContaining({
        Field: { FieldType: 'SINGLE_HEADER', FieldKeys: ['authorization'] },
        Action: 'HASH',
      }),
    );
  });

  it('counts in metrics of its own stage', () => {
    expect(acl.VisibilityConfig.MetricName).toBe('petstore-production');
  });
});

// An update by CloudFormation would set them to what the template has.
it.each([
  ['other code', synthesizeProduction({ firewall: true }, 'fedcba987654')],
  ['other settings', changedProduction()],
  ['other limits', withLowestLimit],
])(
  'the two sets of blocked addresses stay empty and the same in the template, with %s',
  (_, { service }) => {
    const sets = ({ service: own }: StageTemplates) => own.findResources('AWS::WAFv2::IPSet');
    expect(service.findResources('AWS::WAFv2::IPSet')).toEqual(sets(withFirewall));
    expect(findProperties(service, 'AWS::WAFv2::IPSet')).toEqual(
      [4, 6].map((family) => ({
        Name: `petstore-production-blocked-v${family}`,
        Scope: 'REGIONAL',
        IPAddressVersion: `IPV${family}`,
        Addresses: [],
      })),
    );
  },
);

it('nothing writes the sets but the lines of on-call', () => {
  for (const stack of [withFirewall.service, withFirewall.watch]) {
    const policies = JSON.stringify(findProperties(stack, 'AWS::IAM::Policy'));
    expect(policies).toContain('logs:');
    expect(policies).not.toContain('wafv2');
  }
  const files = globSync(['{functions,infra,shared}/**/*.*', '.github/**/*.yml'], {
    cwd: projectRoot,
  });
  const writing = files.filter((file) =>
    /\bwafv2:[\w*]|client-wafv2|ip-?set\b/i.test(readFileSync(join(projectRoot, file), 'utf8')),
  );
  expect(writing.toSorted()).toEqual([
    'infra/RUNBOOK.md',
    'infra/deploy/service/firewall.ts',
    'infra/ops/status/rowCommands.ts',
    // Whoever deploys.
    'infra/policies/execution.json',
    'infra/policies/on-call.json',
  ]);
});

test('a stage without a firewall has no web ACL, and no sets', () => {
  expect(JSON.stringify(templates.production)).not.toContain('WAFv2');
});

function toLimits({ Rules }: Json): Record<string, number> {
  const limits = Rules.map(({ Name, Statement }: Json) => [
    Name,
    Statement.RateBasedStatement?.Limit,
  ]);
  return Object.fromEntries(limits.filter(([, limit]: [string, number?]) => limit));
}
