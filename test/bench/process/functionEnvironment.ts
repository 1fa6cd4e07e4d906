import { type TableDefinition, tables } from '../../../infra/stages/tables.ts';

/** The variables that a function finds on Lambda, with DynamoDB at this endpoint. */
export function toFunctionEnvironment(endpoint: string): Record<string, string> {
  const names = Object.entries<TableDefinition>(tables);
  return {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    ALLOWED_ORIGINS: '*',
    DOCUMENTATION_ADDRESS: 'https://docs.petstore.example',
    ...Object.fromEntries(names.map(([name, { variable }]) => [variable, name])),
  };
}
