import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '../../../../infra/stages/projectRoot.ts';
import {
  changedProduction,
  findProperties,
  type StageTemplates,
  synthesizeProduction,
} from '../../../support/stackTemplates.ts';

const withFirewall = synthesizeProduction({ firewall: true });

// An update by CloudFormation would set them to what the template has.
it.each([
  ['other code', synthesizeProduction({ firewall: true }, 'fedcba987654')],
  ['other settings', changedProduction()],
  ['other limits', synthesizeProduction({ firewall: true, firewallRequestsPerAddress: 100 })],
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
