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
for (const order of orders) addOrder(order);
setCart(cart);
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
  announce(select('cart'), cart.size > 0 ? `Cart: ${toText([...cart])}` : 'The cart is empty.');
  for (const id of ['buy', 'empty']) select(id).setAttribute('aria-disabled', cart.size === 0);
  for (const card of cards.values()) showCard(card);
}

function toText(pieces) {
  return pieces.map(([petId, count]) => `${count} × pet ${petId}`).join(', ');
}

function buy() {
  const pieces = [...cart];
  const order = { id: crypto.randomUUID(), title: toText(pieces), pieces: [] };
  orders.push(order);
  setCart(new Map());
  addOrder(order);
  send(order, { method: 'PUT', path: '', body: pieces, after: pieces });
}

function returnOne(order, returned) {
  const after = order.pieces.map(([petId, count]) => [petId, count - (petId === returned)]);
  const body = [[returned, 1]];
  const path = `/returns/${crypto.randomUUID()}`;
  send(order, { method: 'PUT', path, body, after: after.filter(([, count]) => count > 0) });
}

/** Sends a step, which is saved before that: until its outcome is certain, only the same may be sent again. */
async function send(order, step) {
  order.open = step;
  order.isRunning = true;
  showOrder(order);
  let news = 'It may or may not have happened. Try again: it will not happen twice.';
  try {
    const { method, path, body } = step;
    const init = { method, body: body && JSON.stringify(body) };
    const response = await fetch(`/orders/${order.id}${path}`, init);
    const { message } = await response.json();
    if (response.status === 200) order.pieces = step.after;
    if (response.status < 500) order.open = undefined;
    news = message;
  } catch {
    // No response: the same step asks again.
  }
  order.isRunning = false;
  order.news = news;
  showOrder(order);
  await refresh();
}

function addOrder(order) {
  // A page that was left while a step ran has not seen its outcome.
  order.isRunning = false;
  const element = select('order').content.cloneNode(true).firstElementChild;
  element.id = `order-${order.id}`;
  element.querySelector('h2').textContent = order.title;
  select('orders').prepend(element);
  showOrder(order);
}

function showOrder(order) {
  const { id, pieces, open, isRunning, news = '' } = order;
  sessionStorage.setItem('orders', JSON.stringify(orders));
  const element = select(`order-${id}`);
  announce(element.querySelector('.news'), isRunning ? 'Please wait …' : news);
  const cancellation = { method: 'DELETE', path: '', after: [] };
  const actions = open
    ? [['Try again', () => send(order, open)]]
    : pieces.map(([petId]) => [`Return one: pet ${petId}`, () => returnOne(order, petId)]);
  if (!open && pieces.length > 0) actions.push(['Cancel', () => send(order, cancellation)]);
  const buttons = actions.map(([text, act]) => {
    const button = Object.assign(document.createElement('button'), { type: 'button' });
    button.textContent = text;
    button.disabled = isRunning;
    button.addEventListener('click', act);
    return button;
  });
  const hasFocus = element.contains(document.activeElement);
  element.querySelector('.buttons').replaceChildren(...buttons);
  if (hasFocus) element.focus();
}
