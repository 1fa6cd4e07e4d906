// The script of the reference, after `const scalarName` and `const configuration`. Scalar has 4 MB, so the page shows the
// overview until a reader uses it: with a link to an operation, or at the first movement, touch or key.

let script;

if (location.hash) load();
for (const type of ['hashchange', 'keydown', 'pointerdown', 'pointermove', 'scroll']) {
  addEventListener(type, load, { once: true });
}

function load() {
  if (script) return;
  script = document.createElement('script');
  script.src = scalarName;
  script.addEventListener('load', show);
  document.head.append(script);
}

/** Scalar shows the operation that the reader was at: the overview has its anchors. */
function show() {
  const content = document.querySelector('#content');
  const read = [...content.querySelectorAll('h2')].filter(
    (heading) => heading.getBoundingClientRect().top < innerHeight / 4,
  );
  const place = scrollY > 0 && !location.hash && read.at(-1);
  if (place) history.replaceState(null, '', `#${place.id}`);
  // Scalar treats its element's content as its own.
  content.replaceChildren();
  Scalar.createApiReference(content, configuration);
}
