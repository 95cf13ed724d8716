// Shows the figures of a chart under the pointer: those of the nearest row of the table behind it.
'use strict';
const tip = document.getElementById('tip');
for (const figure of document.querySelectorAll('figure')) {
  const drawing = figure.querySelector('.drawing');
  const rows = [...figure.querySelectorAll('tr[data-at]')];
  const names = [...figure.querySelectorAll('thead th')].map(cell => cell.textContent);
  const from = Number(figure.dataset.from), to = Number(figure.dataset.to);
  if (rows.length === 0) continue;
  const line = document.createElement('div');
  line.className = 'at';
  line.hidden = true;
  drawing.append(line);
  const places = rows.map(row => Number(row.dataset.at));
  const hide = () => { tip.hidden = line.hidden = true; };
  drawing.addEventListener('pointerleave', hide);
  drawing.addEventListener('pointermove', event => {
    const box = drawing.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width - from) / (to - from);
    if (at < -0.01 || at > 1.01) return hide();
    let nearest = 0;
    places.forEach((place, index) => {
      if (Math.abs(place - at) < Math.abs(places[nearest] - at)) nearest = index;
    });
    const cells = [...rows[nearest].cells].map(cell => cell.textContent);
    tip.textContent = cells.map((text, index) => names[index] + '  ' + text).join('\n');
    tip.hidden = line.hidden = false;
    line.style.left = 100 * (from + places[nearest] * (to - from)) + '%';
    const right = event.clientX + 14 + tip.offsetWidth > document.documentElement.clientWidth;
    tip.style.left = Math.max(0, right ? event.clientX - 14 - tip.offsetWidth : event.clientX + 14) + 'px';
    tip.style.top = Math.max(0, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight)) + 'px';
  });
}
