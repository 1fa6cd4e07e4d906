import { AwsError, startAws } from './aws.ts';

/** Answers DescribeStacks for one stack, which has these outputs. */
export async function startCloudFormation(stackName: string, outputs: Record<string, string>) {
  const Outputs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({
    OutputKey,
    OutputValue,
  }));
  const { variables, close } = await startAws({
    DescribeStacks({ StackName }) {
      if (StackName === stackName) return { Stacks: [{ StackStatus: 'CREATE_COMPLETE', Outputs }] };
      throw new AwsError('ValidationError', `Stack with id ${StackName} does not exist`);
    },
  });
  return {
    /** What makes a command take this and the given database for AWS. */
    toVariables: (database: string) => ({ ...variables, AWS_ENDPOINT_URL_DYNAMODB: database }),
    close,
  };
}
