import { createPetstoreClient } from 'petstore-inventory-client';

/** Milliseconds between two reads of the stock. */
const REFRESH = 5_000;

const settings = await (await fetch('/settings.json')).json();
const petstore = createPetstoreClient(settings);
const news = document.querySelector('#news');
const pets = document.querySelector('#pets');
/** The tag of the displayed list. */
let etag;

for (;;) {
  await refresh();
  await new Promise((resolve) => setTimeout(resolve, REFRESH));
}

/** Updates the page. If the stock is unchanged, the service sends only a 304. */
async function refresh() {
  try {
    const list = await petstore.listInventory({ ifNoneMatch: etag });
    if (!list) return;
    etag = list.etag;
    const items = list.items.sort((a, b) => (a.petId < b.petId ? -1 : 1));
    pets.replaceChildren(...items.map(toElement));
    news.textContent = `${items.length} kinds of pets.`;
  } catch (error) {
    news.textContent = `The stock may be out of date: ${error.message}`;
  }
}

function toElement({ petId, quantity, status }) {
  const element = document.querySelector('#pet').content.cloneNode(true).firstElementChild;
  element.className = status;
  element.querySelector('h2').textContent = `Pet ${petId}`;
  element.querySelector('.status').textContent = status;
  element.querySelector('.stock').textContent = `${quantity} in stock`;
  const button = element.querySelector('button');
  button.disabled = quantity === 0 || status !== 'available';
  button.addEventListener('click', () => buy(petId, button));
  return element;
}

/** Our own server sells: it has the key with write permission. */
async function buy(petId, button) {
  button.disabled = true;
  try {
    const response = await fetch(`/sell/${petId}`, { method: 'POST' });
    const { error } = await response.json();
    await refresh();
    news.textContent = error ?? `Pet ${petId} is yours.`;
  } catch {
    news.textContent = 'The sale may or may not have happened: check the stock.';
  }
  button.disabled = false;
}
