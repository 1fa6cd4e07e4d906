/** Milliseconds between two reads of the stock. */
const REFRESH = 5_000;

const summary = document.querySelector('#summary');
const pets = document.querySelector('#pets');
/** A card for each pet, by its id. Ids are text here: a number would round large ones. */
const cards = new Map();

for (;;) {
  await refresh();
  await new Promise((resolve) => setTimeout(resolve, REFRESH));
}

/** Our own server reads the stock, for all pages. */
async function refresh() {
  const response = await fetch('/stock.json').catch(() => undefined);
  if (response?.ok) {
    const items = await response.json();
    showStock(items);
    announce(summary, `${items.length} kinds of pets.`);
  } else {
    announce(summary, 'The stock may be out of date.');
  }
}

/** Screen readers read each change aloud. */
function announce(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Changes the cards in place: a button that is replaced or moved loses the keyboard's focus. */
function showStock(items) {
  const listed = new Set(items.map(({ petId }) => petId));
  for (const [petId, { element }] of cards) if (!listed.has(petId)) element.remove();
  for (const [index, item] of items.entries()) {
    const card = cards.get(item.petId) ?? addCard(item.petId);
    const place = pets.children[index] ?? null;
    if (place !== card.element) pets.insertBefore(card.element, place);
    card.item = item;
    show(card);
  }
}

function addCard(petId) {
  const element = document.querySelector('#pet').content.cloneNode(true).firstElementChild;
  const card = { petId, element, button: element.querySelector('button'), isBuying: false };
  element.querySelector('h2').textContent = `Pet ${petId}`;
  card.button.addEventListener('click', () => buy(card));
  cards.set(petId, card);
  return card;
}

function show({ petId, item, element, button, isBuying }) {
  const { status, quantity } = item;
  const isForSale = status === 'available' && quantity > 0;
  const reasons = { available: 'sold out', pending: 'on hold', sold: 'no longer offered' };
  element.className = isForSale ? 'available' : '';
  element.querySelector('.status').textContent = isForSale ? 'available' : reasons[status];
  element.querySelector('.stock').textContent = isForSale ? `${quantity} in stock` : '';
  const hasOrder = readOrder(petId) !== null;
  button.textContent = hasOrder ? 'Try again' : 'Buy';
  if (isBuying) button.textContent = 'Buying …';
  button.setAttribute('aria-label', `${button.textContent}: pet ${petId}`);
  // Not `disabled`, which would take the focus away.
  button.setAttribute('aria-disabled', isBuying || !(isForSale || hasOrder));
}

/** A click makes an order, and each further one repeats it until its outcome is certain. */
async function buy(card) {
  const { petId, element, button } = card;
  if (button.getAttribute('aria-disabled') === 'true') return;
  const orderId = readOrder(petId) ?? crypto.randomUUID();
  sessionStorage.setItem(toName(petId), orderId);
  card.isBuying = true;
  show(card);
  let news = 'The sale may or may not have happened. Try again: you will not buy twice.';
  try {
    const response = await fetch(`/orders/${orderId}/${petId}`, { method: 'PUT' });
    const { message } = await response.json();
    if (response.status < 500) sessionStorage.removeItem(toName(petId));
    news = message;
  } catch {
    // No response: the same order asks again.
  }
  card.isBuying = false;
  show(card);
  announce(element.querySelector('.news'), news);
  await refresh();
}

/** The pet's order without a certain outcome. It survives a reload of the page. */
function readOrder(petId) {
  return sessionStorage.getItem(toName(petId));
}

function toName(petId) {
  return `order of pet ${petId}`;
}
