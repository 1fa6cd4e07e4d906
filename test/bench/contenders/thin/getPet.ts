import { toHandler } from './handler.ts';

export const handler = toHandler('GetItem', ({ pathParameters }) => ({
  TableName: process.env.PETS_TABLE,
  Key: { id: { N: pathParameters?.petId } },
}));
