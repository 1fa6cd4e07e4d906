import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { apiVersion } from '../../shared/contract/operation.ts';

import { toApiName } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';

/**
 * A metric that the gateway keeps by itself of all requests to a stage. The averages of `4XXError` and
 * `5XXError` are their shares of the requests.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
 */
export function toGatewayMetric(
  stage: Stage,
  metricName: '4XXError' | '5XXError' | 'Count' | 'IntegrationLatency' | 'Latency',
  options: MetricOptions,
): Metric {
  return new Metric({
    namespace: 'AWS/ApiGateway',
    metricName,
    dimensionsMap: { ApiName: toApiName(stage), Stage: apiVersion },
    ...options,
  });
}
