import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Answers DescribeStacks for one stack, which has these outputs. */
export async function startCloudFormation(stackName: string, outputs: Record<string, string>) {
  const members = Object.entries(outputs).map(
    ([key, value]) =>
      `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const server = createServer(async (request, response) => {
    const parameters = new URLSearchParams(await text(request));
    const isAsked =
      parameters.get('Action') === 'DescribeStacks' && parameters.get('StackName') === stackName;
    response.writeHead(isAsked ? 200 : 400, { 'Content-Type': 'text/xml' });
    response.end(`<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/">
      <DescribeStacksResult><Stacks><member>
        <StackName>${stackName}</StackName><StackStatus>CREATE_COMPLETE</StackStatus>
        <CreationTime>2026-12-01T00:00:00Z</CreationTime>
        <Outputs>${members.join('')}</Outputs>
      </member></Stacks></DescribeStacksResult></DescribeStacksResponse>`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    /** What makes a command take this and the given database for AWS. */
    toVariables: (database: string) => ({
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_CLOUDFORMATION: endpoint,
      AWS_ENDPOINT_URL_DYNAMODB: database,
    }),
    close: () => server.close(),
  };
}
