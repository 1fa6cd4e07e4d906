import { CfnOutput } from 'aws-cdk-lib';
import { DomainName, EndpointType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { Construct } from 'constructs';
import { apiVersion } from '../../shared/contract/operation.ts';
import type { StageSettings } from '../stages/stageSettings.ts';
import { tls } from './restApi.ts';

/** Serves the gateway under a name of one's own too, at `https://<name>/v1`; the gateway's own address stays. */
export function defineCustomDomain(
  scope: Construct,
  api: RestApi,
  { name, certificateArn }: NonNullable<StageSettings['customDomain']>,
): void {
  const domain = new DomainName(scope, 'Domain', {
    domainName: name,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn),
    endpointType: EndpointType.REGIONAL,
    ...tls,
  });
  domain.addBasePathMapping(api, { basePath: apiVersion });
  new CfnOutput(scope, 'DomainTarget', {
    description: `What the DNS record of ${name} must point to: a CNAME, or an alias in Route 53`,
    value: domain.domainNameAliasDomainName,
  });
}
