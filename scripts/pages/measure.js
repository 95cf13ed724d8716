// Measures a page as it is laid out; its value is what was found: whatever reaches beyond the window, text over other text,
// text that is hard to tell from what is behind it, and a chart that says nothing under a pointer.
(() => {
  'use strict';
  const found = [];
  const shown = element => element.textContent.trim().replace(/\s+/g, ' ').slice(0, 60);
  const wide = document.documentElement;
  if (wide.scrollWidth > wide.clientWidth) found.push(`the page is ${wide.scrollWidth} wide, the window ${wide.clientWidth}`);

  // The boxes of the lines of text, each with the element that it is of. What is scrolled out of a box of its own is not seen.
  const boxes = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text; (text = texts.nextNode());) {
    const element = text.parentElement;
    if (!text.data.trim() || element.closest('script, style, pre, [hidden]') || !element.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const scrolled = element.closest('.scroll')?.getBoundingClientRect();
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      if (scrolled && (box.bottom > scrolled.bottom || box.right > scrolled.right)) continue;
      boxes.push({ element, box });
    }
  }
  boxes.sort((one, other) => one.box.top - other.box.top);
  boxes.forEach(({ element, box }, index) => {
    for (const other of boxes.slice(index + 1)) {
      if (other.box.top >= box.bottom - 2) break;
      const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
      if (other.element !== element && across > 1 && down > 3) found.push(`"${shown(element)}" lies over "${shown(other.element)}"`);
    }
    const drawn = element.closest('svg')?.getBoundingClientRect();
    if (drawn && (box.left < drawn.left - 1 || box.right > drawn.right + 1 || box.top < drawn.top - 1 || box.bottom > drawn.bottom + 1)) {
      found.push(`"${shown(element)}" is cut off by its chart`);
    }
    if (box.right > wide.clientWidth + 1 && !element.closest('.scroll, pre')) found.push(`"${shown(element)}" reaches beyond the window`);
  });

  // WCAG 2.1, success criterion 1.4.3.
  const parts = colour => (colour.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const light = colour => parts(colour).slice(0, 3).map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if ((parts(colour)[3] ?? 1) > 0) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  let contrast = Infinity;
  for (const element of new Set(boxes.map(of => of.element))) {
    const style = getComputedStyle(element);
    const ink = light(element instanceof SVGElement ? style.fill : style.color), page = light(behind(element));
    const ratio = (Math.max(ink, page) + 0.05) / (Math.min(ink, page) + 0.05);
    contrast = Math.min(contrast, ratio);
    if (ratio < 4.5) found.push(`"${shown(element)}" has a contrast of ${ratio.toFixed(2)}`);
  }

  // Under a pointer in the middle of a chart stand the figures of a row behind it.
  const chart = document.querySelector('figure .drawing');
  if (chart) {
    chart.scrollIntoView({ block: 'center' });
    const box = chart.getBoundingClientRect();
    const at = { clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 };
    chart.dispatchEvent(new PointerEvent('pointermove', { ...at, bubbles: true }));
    const tip = document.getElementById('tip');
    const rows = [...chart.parentElement.querySelectorAll('tr[data-at]')].map(row => row.cells[0].textContent);
    if (tip.hidden || !rows.some(row => tip.textContent.includes(row))) found.push(`under the pointer stands "${tip.textContent}"`);
    const tipped = tip.getBoundingClientRect();
    if (tipped.right > wide.clientWidth || tipped.bottom > innerHeight) found.push('what stands under the pointer reaches beyond the window');
    document.body.dispatchEvent(new PointerEvent('pointermove', { bubbles: true }));
    if (!tip.hidden) found.push('what stood under the pointer stays when it is gone');
  }
  return { found, texts: boxes.length, contrast, charts: document.querySelectorAll('figure svg').length };
})();
