import { RemovalPolicy } from 'aws-cdk-lib';

/**
 * What becomes of logs and published versions when the stack, or a newer one, has no more use for them:
 * kept where the stage protects its data. Not those that a deployment made which was then rolled back:
 * left behind, they would refuse its repetition, since a log of that name exists, and a version of that
 * code. CloudFormation calls it RetainExceptOnCreate:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
 */
export function toKeptPolicy(protectsData: boolean): RemovalPolicy {
  return protectsData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}
