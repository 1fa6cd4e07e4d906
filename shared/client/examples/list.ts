/*
 * Lists what is in stock:
 *   API_KEY=psk_… node list.ts
 */
// Elsewhere, this is the package petstore-inventory-client.
import { createPetstoreClient } from '../index.ts';

const { BASE_ADDRESS = 'http://127.0.0.1:3000/v1', API_KEY = '' } = process.env;
const petstore = createPetstoreClient({ baseUrl: BASE_ADDRESS, apiKey: API_KEY });

for await (const { petId, quantity, status } of petstore.streamInventory()) {
  console.log(`${petId}: ${quantity} ${status}`);
}
