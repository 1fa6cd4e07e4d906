import { Duration } from 'aws-cdk-lib';
import { LambdaIntegration, ResponseTransferMode, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import type { LiveAliases } from '../service/gradualDeployment.ts';
import { operationSettings, type Stage } from '../stages/stages.ts';
import { addErrorAnswer, addPreflightAnswer } from './fixedAnswers.ts';
import { gatewayErrors, toAllow, toMethodNotAllowedError } from './gatewayErrors.ts';

/** The contract's methods on the contract's paths; preflight, 405 and 404 everywhere else. */
export function defineRoutes(
  api: RestApi,
  { settings: { allowedOrigins } }: Stage,
  aliases: LiveAliases,
): void {
  for (const id of operationIds) {
    const resource = api.root.resourceForPath(operations[id].path);
    resource.addMethod(operations[id].method, toIntegration(id, aliases));
  }
  for (const path of toPaths()) {
    const resource = api.root.resourceForPath(path);
    const methods = toMethods(path);
    if (methods.length === 0) {
      addErrorAnswer(resource, gatewayErrors.MISSING_AUTHENTICATION_TOKEN, allowedOrigins);
    } else {
      addPreflightAnswer(resource, methods, allowedOrigins);
      addErrorAnswer(resource, toMethodNotAllowedError(toAllow(methods)), allowedOrigins);
    }
  }
}

function toIntegration(id: OperationId, aliases: LiveAliases): LambdaIntegration {
  return new LambdaIntegration(aliases[id] as IFunction, {
    // The console's test button would need a permission of its own on every function.
    allowTestInvoke: false,
    // A streamed answer has 15 minutes in place of 29 seconds: wait as long as the function may run.
    ...(operations[id].streamed && {
      responseTransferMode: ResponseTransferMode.STREAM,
      timeout: Duration.seconds(operationSettings[id].timeoutSeconds),
    }),
  });
}

/**
 * The contract's paths, all paths above them, and all others. On a path without a method the gateway
 * would take the Bearer token for a broken AWS signature, and complain of that.
 */
function toPaths(): Set<string> {
  const paths = new Set(['/', '/{unknownPath+}']);
  for (const id of operationIds) {
    const segments = operations[id].path.slice(1).split('/');
    segments.forEach((_, index) => {
      paths.add(`/${segments.slice(0, index + 1).join('/')}`);
    });
  }
  return paths;
}

function toMethods(path: string): string[] {
  return operationIds
    .filter((id) => operations[id].path === path)
    .map((id) => operations[id].method);
}
