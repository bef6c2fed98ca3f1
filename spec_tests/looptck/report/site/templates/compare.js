// Any two implementations: the requirements in which their standings differ. The choice is kept in the address.
const form = document.querySelector('[data-compare]');
const place = document.querySelector('[data-differences]');
const states = place.dataset.states.split(' ');
const bySlug = Object.fromEntries(LOOPTCK.entries.map((entry) => [entry.slug, entry]));

function cell(row, tag, text, link) {
  const made = row.appendChild(document.createElement(tag));
  const inner = link ? made.appendChild(document.createElement('a')) : made;
  if (link) inner.href = link;
  inner.textContent = text;
  return made;
}

function show() {
  const [a, b] = ['a', 'b'].map((side) => bySlug[form.elements[side].value]);
  history.replaceState(null, '', `#${a.slug}/${b.slug}`);
  const table = document.createElement('table');
  table.className = 'rows';
  const head = table.createTHead().insertRow();
  for (const text of ['Requirement', 'If it fails', a.name, b.name]) cell(head, 'th', text).scope = 'col';
  const body = table.createTBody();
  LOOPTCK.requirements.forEach(([id, , impact, text], at) => {
    const [one, other] = [a, b].map((entry) => states[entry.states[at]]);
    if (one === other) return;
    const row = body.insertRow();
    const name = cell(row, 'th', id, `r/${id}.html`);
    name.scope = 'row';
    name.title = text;
    for (const [of, text] of [['If it fails', impact], [a.name, one], [b.name, other]]) {
      const told = cell(row, 'td', text);
      told.dataset.of = of;
      if (of !== 'If it fails') told.className = text;
    }
  });
  place.replaceChildren(table);
  form.querySelector('output').value = `${body.rows.length} of ${LOOPTCK.requirements.length} differ`;
}

const chosen = location.hash.slice(1).split('/');
if (chosen.every((slug) => slug in bySlug) && chosen.length === 2) {
  ['a', 'b'].forEach((side, at) => (form.elements[side].value = chosen[at]));
}
form.hidden = false;
form.addEventListener('input', show);
if (LOOPTCK.entries.length) show();
