/*
 * A shop: its page reads the stock with a read key, and its server sells.
 *   npm run client
 *   BASE_ADDRESS=http://127.0.0.1:3000/v1 READ_KEY=psk_… API_KEY=psk_… node server.ts
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
// Elsewhere, this is the package petstore-inventory-client.
import { createPetstoreClient, PetstoreError } from '../../index.ts';

const here = import.meta.dirname;
const {
  BASE_ADDRESS = '',
  READ_KEY = '',
  API_KEY = '',
  PORT = '8080',
  // Elsewhere: node_modules/petstore-inventory-client/index.js.
  CLIENT_MODULE = join(here, '../../../../dist/client/package/index.js'),
} = process.env;

// The key with write permission stays here: the page gets only the read key.
const petstore = createPetstoreClient({ baseUrl: BASE_ADDRESS, apiKey: API_KEY });
const settings = JSON.stringify({ baseUrl: BASE_ADDRESS, apiKey: READ_KEY });

const files = new Map<string, readonly [type: string, content: string | Buffer]>([
  ['/', ['text/html', await readFile(join(here, 'index.html'))]],
  ['/shop.css', ['text/css', await readFile(join(here, 'shop.css'))]],
  ['/shop.js', ['text/javascript', await readFile(join(here, 'shop.js'))]],
  ['/petstore-inventory-client.js', ['text/javascript', await readFile(CLIENT_MODULE)]],
  ['/settings.json', ['application/json', settings]],
]);

class NotForSale extends Error {}

/** Sells one piece, with any number of customers at once, and returns the response for the customer. */
async function sellPiece(petId: bigint): Promise<[status: number, body: object]> {
  try {
    const { quantity } = await petstore.updateStock(petId, (entry) => {
      if (entry.status !== 'available' || entry.quantity === 0) throw new NotForSale();
      return entry.quantity - 1;
    });
    // A string, since the page would round a large id.
    return [200, { petId: `${petId}`, quantity }];
  } catch (error) {
    if (error instanceof NotForSale) return [409, { error: 'It is not for sale.' }];
    if (!(error instanceof PetstoreError)) throw error;
    if (error.code === 'not_found') return [404, { error: 'We do not sell it.' }];
    console.error(`Not sold: ${error.code}, request ${error.requestId}: ${error.message}`);
    return [503, { error: 'We cannot sell right now: please try again.' }];
  }
}

const server = createServer(async ({ method, url = '' }, response) => {
  const [, petId] = /^\/sell\/(-?\d{1,19})$/.exec(url) ?? [];
  if (method === 'POST' && petId !== undefined) {
    const [status, body] = await sellPiece(BigInt(petId));
    return response
      .writeHead(status, { 'Content-Type': 'application/json' })
      .end(JSON.stringify(body));
  }
  const [type, content] = files.get(url) ?? [];
  if (method !== 'GET' || type === undefined) return response.writeHead(404).end();
  return response.writeHead(200, { 'Content-Type': `${type}; charset=utf-8` }).end(content);
});

server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`The shop is at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
