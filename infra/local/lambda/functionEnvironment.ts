import { type TableDefinition, tables } from '../../stages/tables.ts';

/** Settings of the SDK that would lead the functions away from the engine, or to other credentials. */
const misleading = [
  'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS',
  'AWS_PROFILE',
  'AWS_SESSION_TOKEN',
  'AWS_USE_DUALSTACK_ENDPOINT',
  'AWS_USE_FIPS_ENDPOINT',
];

/** Sets in this process what Lambda sets for a function. It must precede the import of the functions. */
export function setFunctionEnvironment(endpoint: string, documentationAddress: string): void {
  for (const name of misleading) delete process.env[name];
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: 'local',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    ALLOWED_ORIGINS: '*',
    DOCUMENTATION_ADDRESS: documentationAddress,
  });
  for (const [name, { variable }] of Object.entries<TableDefinition>(tables)) {
    process.env[variable] = name;
  }
}
