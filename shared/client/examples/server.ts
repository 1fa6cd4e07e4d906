/*
 * A server that sells: `curl -X POST http://127.0.0.1:8080/sell/7` takes a piece off the stock.
 *   BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… node server.ts
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
// Elsewhere, this is the package petstore-inventory-client.
import { createPetstoreClient } from '../index.ts';
import { parseSaleAddress, sellPiece } from './sale.ts';

const { BASE_ADDRESS = '', API_KEY = '', PORT = '8080' } = process.env;
const petstore = createPetstoreClient({ baseUrl: BASE_ADDRESS, apiKey: API_KEY });

const server = createServer(async (request, response) => {
  const petId = parseSaleAddress(request.url);
  if (request.method !== 'POST' || petId === undefined) return response.writeHead(404).end();
  const { status, body } = await sellPiece(petstore, petId);
  return response
    .writeHead(status, { 'Content-Type': 'application/json' })
    .end(JSON.stringify(body));
});

server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Selling at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
