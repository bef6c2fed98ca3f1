// Filters: rows that have the words, and the chosen kind and language. Without scripts the form is not shown.
for (const form of document.querySelectorAll('[data-filters]')) {
  const rows = [...document.querySelectorAll('main tbody tr')];
  const tables = [...document.querySelectorAll('main table')];
  form.hidden = false;
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('input', () => {
    const wanted = Object.fromEntries(new FormData(form));
    const words = wanted.find.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = ['kind', 'language'].every((name) => !wanted[name] || row.dataset[name] === wanted[name]);
      row.hidden = !fits || !words.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    for (const table of tables) {
      const isEmpty = ![...table.tBodies[0].rows].some((row) => !row.hidden);
      table.hidden = isEmpty;
      if (table.previousElementSibling?.matches('h2')) table.previousElementSibling.hidden = isEmpty;
    }
    form.querySelector('output').value = `${shown} of ${rows.length}`;
  });
}
