import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { defineHandler, documents, HttpError, PathParameters } from './middleware.ts';

const deprecation = {
  Deprecation: '@1796083200',
  Sunset: 'Wed, 01 Dec 2027 00:00:00 GMT',
  Link: '<https://www.petstore.example/deprecations>; rel="deprecation"',
};

export const handler = defineHandler(
  'read',
  async ({ pathParameters }) => {
    const { petId } = PathParameters.parse(pathParameters);
    const { Item } = await documents.send(
      new GetCommand({ TableName: process.env.PETS_TABLE, Key: { id: petId } }),
    );
    if (!Item) throw new HttpError(404, `There is no pet with petId ${petId}.`);
    return Item;
  },
  deprecation,
);
