import {
  CloudFormationClient,
  type Stack,
  UpdateStackCommand,
  waitUntilStackUpdateComplete,
} from '@aws-sdk/client-cloudformation';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { toErrorLine } from '../../cli/errorLine.ts';
import type { LiveFunction } from '../../cli/liveFunctions.ts';
import { log } from '../../cli/output.ts';
import { describeStack, type OpenStage } from '../../cli/stageStack.ts';
import { readStackAliases, type Template } from './stackTemplate.ts';

/** Seconds. No resource but the aliases changes, which takes some ten seconds. */
const MAX_WAIT_SECONDS = 300;

/**
 * Brings the stack in line with its aliases after a rollback. CloudFormation and CodeDeploy take the versions of the
 * last template for the live ones, so the next canary would start from the version that was rolled back. This updates the
 * stack by its own template, in which each alias names its live version and has no update policy. Rollback is disabled,
 * so that a failure moves no requests. A second run continues after a failure.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-updatepolicy.html
 * @param say prints a line
 */
export async function alignStack(
  { stage, name: StackName, open }: OpenStage,
  functions: readonly LiveFunction[],
  say: (line: string) => void,
): Promise<void> {
  const client = open(CloudFormationClient);
  try {
    const { template, aliases } = await readStackAliases(client, stage, StackName);
    const differing = aliases.flatMap((alias) => {
      const live = functions.find(({ operationId }) => operationId === alias.operationId)?.live;
      return live && live.version !== alias.number ? [{ ...alias, live }] : [];
    });
    const stack = await describeStack(client, StackName);
    const status = stack?.StackStatus ?? '';
    // After an update that failed half way, the template may be right already.
    if (differing.length === 0 && status !== 'UPDATE_FAILED') {
      return say(`\nThe stack ${StackName} names the live versions.`);
    }
    const held = explainHold(StackName, status);
    if (held) {
      return log(
        `\nThe stack ${StackName} is not in line yet, since CloudFormation ${held} the same command again, before the next deployment.`,
      );
    }
    for (const { resource, live } of differing) {
      Object.assign(resource.Properties as object, { FunctionVersion: String(live.version) });
      delete resource.UpdatePolicy;
    }
    await client.send(
      new UpdateStackCommand({
        StackName,
        TemplateURL: await upload(open(S3Client), StackName, stack, template),
        Parameters: stack?.Parameters?.map(({ ParameterKey }) => {
          return { ParameterKey, UsePreviousValue: true };
        }),
        Capabilities: ['CAPABILITY_IAM', 'CAPABILITY_NAMED_IAM'],
        DisableRollback: true,
      }),
    );
    const waiting = { client, minDelay: 5, maxDelay: 10, maxWaitTime: MAX_WAIT_SECONDS };
    await waitUntilStackUpdateComplete(waiting, { StackName });
    say(
      `\nThe stack ${StackName} names the live versions now. The next deployment starts from them.`,
    );
  } catch (error) {
    log(
      `\nThe stack ${StackName} is not in line: ${toErrorLine(error).replace(/\.$/, '')}. Run the same command again, before the next deployment: see "After a rollback" in infra/OPERATIONS.md.`,
    );
    process.exitCode = 1;
  }
}

/** Why CloudFormation takes no update now, and what to do before the command is run again. */
function explainHold(name: string, status: string): string | undefined {
  if (status.endsWith('_IN_PROGRESS')) return `is busy (${status}). When it is done, run`;
  if (!status.endsWith('ROLLBACK_FAILED')) return undefined;
  return `could not take its last update back (${status}). Finish that with aws cloudformation continue-update-rollback --stack-name ${name}, and run`;
}

/**
 * Uploads a template to the bucket with the functions' code, to which the CDK uploads templates too. It is larger than
 * the 51,200 bytes that CloudFormation takes in a request.
 */
async function upload(
  client: S3Client,
  name: string,
  stack: Stack | undefined,
  template: Template,
): Promise<string> {
  const [, , , region = '', account = ''] = stack?.StackId?.split(':') ?? [];
  const code = Object.values(template.Resources)
    .map(({ Properties }) => Object(Properties?.Code).S3Bucket)
    .find((bucket) => bucket !== undefined);
  const Bucket = String(code?.['Fn::Sub'] ?? code)
    // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders.
    .replace('${AWS::AccountId}', account)
    // biome-ignore lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders.
    .replace('${AWS::Region}', region);
  const Key = `rollback/${name}.json`;
  const Body = JSON.stringify(template);
  await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'application/json' }));
  return `https://${Bucket}.s3.${region}.amazonaws.com/${Key}`;
}
