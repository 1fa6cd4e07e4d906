import { type TableDefinition, tables } from '../../../infra/stages/tables.ts';

/** The variables that a function finds on Lambda, with DynamoDB at this endpoint. */
export function toFunctionEnvironment(endpoint: string): Record<string, string> {
  const names = Object.entries<TableDefinition>(tables);
  return {
    // https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_SESSION_TOKEN: 'bench',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
    AWS_LAMBDA_FUNCTION_VERSION: '1',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    LAMBDA_TASK_ROOT: '/var/task',
    TZ: ':UTC',
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    ALLOWED_ORIGINS: '*',
    DOCUMENTATION_ADDRESS: 'https://docs.petstore.example',
    ...Object.fromEntries(names.map(([name, { variable }]) => [variable, name])),
  };
}
