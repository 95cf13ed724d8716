// Shows the figures of a chart under the pointer: those of the nearest row of the table behind it.
'use strict';
const tip = document.getElementById('tip');
const line = document.createElement('div');
line.className = 'at';
let pointer = null;
const hide = () => { tip.hidden = true; line.remove(); pointer = null; };
const point = event => {
  const drawing = event.target instanceof Element ? event.target.closest('.drawing') : null;
  const figure = drawing && drawing.closest('figure');
  const rows = figure ? [...figure.querySelectorAll('tr[data-at]')] : [];
  if (rows.length === 0) return hide();
  const from = Number(figure.dataset.from), to = Number(figure.dataset.to);
  const box = drawing.getBoundingClientRect();
  const at = ((event.clientX - box.left) / box.width - from) / (to - from);
  if (at < -0.01 || at > 1.01) return hide();
  const places = rows.map(row => Number(row.dataset.at));
  let nearest = 0;
  places.forEach((place, index) => {
    if (Math.abs(place - at) < Math.abs(places[nearest] - at)) nearest = index;
  });
  const names = [...figure.querySelectorAll('thead th')].map(cell => cell.textContent);
  const cells = [...rows[nearest].cells].map(cell => cell.textContent);
  tip.textContent = cells.map((text, index) => names[index] + '  ' + text).join('\n');
  tip.hidden = false;
  drawing.append(line);
  line.style.left = 100 * (from + places[nearest] * (to - from)) + '%';
  const right = event.clientX + 14 + tip.offsetWidth > document.documentElement.clientWidth;
  tip.style.left = Math.max(0, right ? event.clientX - 14 - tip.offsetWidth : event.clientX + 14) + 'px';
  tip.style.top = Math.max(0, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight)) + 'px';
  pointer = { clientX: event.clientX, clientY: event.clientY };
};
document.addEventListener('pointermove', point);
document.addEventListener('pointerleave', hide);
