/** Milliseconds between two reads of the stock. */
const REFRESH = 5_000;

const select = (id) => document.querySelector(`#${id}`);
/** A card for each pet, by its id. Ids are text here: a number would round large ones. */
const cards = new Map();
/** The pieces of each pet. */
let cart = new Map();
/** The newest is the last. They survive a reload of the page. */
const orders = JSON.parse(sessionStorage.getItem('orders') ?? '[]');

onClick(select('buy'), buy);
onClick(select('empty'), () => setCart(new Map()));
setCart(cart);
showOrders();
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
    announce(select('summary'), `${items.length} kinds of pets.`);
  } else {
    announce(select('summary'), 'The stock may be out of date.');
  }
}

/** Screen readers read each change aloud. */
function announce(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Changes the cards in place: a button that is replaced or moved loses the keyboard's focus. */
function showStock(items) {
  const pets = select('pets');
  const listed = new Set(items.map(({ petId }) => petId));
  for (const [petId, { element }] of cards) if (!listed.has(petId)) element.remove();
  for (const [index, item] of items.entries()) {
    const card = cards.get(item.petId) ?? addCard(item.petId);
    const place = pets.children[index] ?? null;
    if (place !== card.element) pets.insertBefore(card.element, place);
    card.item = item;
    showCard(card);
  }
}

function addCard(petId) {
  const element = select('pet').content.cloneNode(true).firstElementChild;
  const card = { element, button: element.querySelector('button') };
  element.querySelector('h2').textContent = `Pet ${petId}`;
  card.button.setAttribute('aria-label', `Add to cart: pet ${petId}`);
  onClick(card.button, () => setCart(new Map(cart).set(petId, (cart.get(petId) ?? 0) + 1)));
  cards.set(petId, card);
  return card;
}

/** Not `disabled`, which would take the focus away. */
function onClick(button, act) {
  button.addEventListener('click', () => {
    if (button.getAttribute('aria-disabled') !== 'true') act();
  });
}

function showCard({ item: { petId, status, quantity }, element, button }) {
  const isForSale = status === 'available' && quantity > 0;
  const reasons = { available: 'sold out', pending: 'on hold', sold: 'no longer offered' };
  element.className = isForSale ? 'available' : '';
  element.querySelector('.status').textContent = isForSale ? 'available' : reasons[status];
  element.querySelector('.stock').textContent = isForSale ? `${quantity} in stock` : '';
  button.setAttribute('aria-disabled', !isForSale || (cart.get(petId) ?? 0) >= quantity);
}

function setCart(pieces) {
  cart = pieces;
  announce(
    select('cart'),
    cart.size > 0 ? `Cart: ${describePieces([...cart])}` : 'The cart is empty.',
  );
  for (const id of ['buy', 'empty']) select(id).setAttribute('aria-disabled', cart.size === 0);
  for (const card of cards.values()) showCard(card);
}

function describePieces(pieces) {
  return pieces.map(([petId, count]) => `${count} × pet ${petId}`).join(', ');
}

function buy() {
  const pieces = [...cart];
  const order = { id: crypto.randomUUID(), title: describePieces(pieces), pieces: [] };
  orders.push(order);
  setCart(new Map());
  send(order, { method: 'PUT', path: '', body: pieces, after: pieces });
}

function returnOne(order, returned) {
  const path = `/returns/${crypto.randomUUID()}`;
  const left = order.pieces.map(([petId, count]) => [petId, count - (petId === returned)]);
  const after = left.filter(([, count]) => count > 0);
  send(order, { method: 'PUT', path, body: [[returned, 1]], after });
}

/** Sends a step, which is saved before that. Until its outcome is certain, only the same is sent again. */
async function send(order, step) {
  const waiting = 'Waiting for the shop. You can try again: it will not happen twice.';
  Object.assign(order, { open: step, news: waiting });
  showOrders();
  const init = { method: step.method, body: step.body && JSON.stringify(step.body) };
  const response = await fetch(`/orders/${order.id}${step.path}`, init).catch(() => undefined);
  const body = await response?.json().catch(() => undefined);
  if (response?.status === 200) order.pieces = step.after;
  if (response?.status < 500) order.open = undefined;
  order.news = body?.message ?? waiting;
  showOrders();
  await refresh();
}

function showOrders() {
  sessionStorage.setItem('orders', JSON.stringify(orders));
  const list = select('orders');
  const hasFocus = list.contains(document.activeElement);
  list.replaceChildren(...orders.toReversed().map(renderOrder));
  if (hasFocus) list.focus();
  announce(select('news'), orders.at(-1)?.news ?? '');
}

function renderOrder(order) {
  const { title, news, open, pieces } = order;
  const item = select('order').content.cloneNode(true).firstElementChild;
  item.querySelector('h2').textContent = title;
  item.querySelector('.news').textContent = news;
  function addButton(text, act) {
    const button = document.createElement('button');
    button.textContent = text;
    button.addEventListener('click', act);
    item.append(button);
  }
  if (open) addButton('Try again', () => send(order, open));
  if (open || pieces.length === 0) return item;
  for (const [petId] of pieces)
    addButton(`Return one: pet ${petId}`, () => returnOne(order, petId));
  addButton('Cancel', () => send(order, { method: 'DELETE', path: '', after: [] }));
  return item;
}
