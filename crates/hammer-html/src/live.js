// Takes new parts of the page as the run goes, and leaves open what was opened, scrolled what was scrolled, and shown what is under the pointer.
'use strict';
const link = document.getElementById('link');
const main = document.querySelector('main');
const replace = (element, html) => {
  const open = [...element.querySelectorAll('details')].map(details => details.open);
  const scrolled = [...element.querySelectorAll('.scroll, pre')].map(box => [box.scrollLeft, box.scrollTop]);
  element.innerHTML = html;
  [...element.querySelectorAll('details')].forEach((details, index) => { details.open = open[index] ?? details.open; });
  [...element.querySelectorAll('.scroll, pre')].forEach((box, index) => {
    if (scrolled[index]) [box.scrollLeft, box.scrollTop] = scrolled[index];
  });
};
const take = update => {
  if (update.run !== document.body.dataset.run) {
    document.body.dataset.run = update.run;
    main.replaceChildren();
  }
  document.title = 'hammer: ' + update.title;
  for (const part of update.parts) {
    let element = document.getElementById(part.id);
    if (!element) {
      element = document.createElement('div');
      element.id = part.id;
      main.append(element);
    }
    replace(element, part.html);
    if (part.id === 'banner') element.className = update.standing;
  }
  if (pointer) {
    const target = document.elementFromPoint(pointer.clientX, pointer.clientY);
    point({ target, ...pointer });
  }
};
const source = new EventSource('live');
source.addEventListener('open', () => { link.textContent = 'live'; });
source.addEventListener('error', () => {
  link.textContent = source.readyState === EventSource.CLOSED ? 'no longer connected' : 'connection lost, trying again';
});
source.addEventListener('parts', event => take(JSON.parse(event.data)));
source.addEventListener('end', event => {
  take(JSON.parse(event.data));
  source.close();
  link.textContent = 'ended: these are the last figures';
});
