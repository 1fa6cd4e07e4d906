import { GetCommand } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import {
  authenticate,
  documents,
  HttpError,
  httpErrorHandler,
  PathParameters,
  responseHeaders,
} from './middleware.ts';

async function getPet(event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> {
  const { petId } = PathParameters.parse(event.pathParameters);
  const { Item } = await documents.send(
    new GetCommand({ TableName: process.env.PETS_TABLE, Key: { id: petId } }),
  );
  if (!Item) throw new HttpError(404, `There is no pet with petId ${petId}.`);
  return {
    statusCode: 200,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(Item),
  };
}

const deprecation = {
  Deprecation: '@1796083200',
  Sunset: 'Wed, 01 Dec 2027 00:00:00 GMT',
  Link: '<https://www.petstore.example/deprecations>; rel="deprecation"',
};

export const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
  .use(responseHeaders(deprecation))
  .use(httpErrorHandler())
  .use(authenticate('read'))
  .handler(getPet);
