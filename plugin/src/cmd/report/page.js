
"use strict";
// The filter. Without this script everything is there, and nothing is filtered.
(() => {
  const form = document.getElementById("filter");
  const verdicts = ["Keep", "Collect", "Wait", "Hold", "Release", "Unknown"];
  const add = (label, type, name, checked) => {
    const input = Object.assign(document.createElement("input"), { type, name, checked });
    const around = document.createElement("label");
    if (type === "search") around.append(label + " ", input); else around.append(input, " " + label);
    form.append(around);
    return input;
  };
  const search = add("Search", "search", "text", false);
  search.title = "Rows that have all these words; press / to come here";
  const wanted = new Map(verdicts.map((verdict) => [verdict, add(verdict, "checkbox", verdict, true)]));
  const onlyStuck = add("only what is stuck", "checkbox", "stuck", false);
  form.hidden = false;

  const rows = (selector) => Array.from(document.querySelectorAll(selector), (row) => ({
    row,
    text: row.textContent.toLowerCase(),
    stuck: row.hasAttribute("data-stuck"),
    verdict: row.cells[3].className,
    home: row.cells[0].textContent,
    name: row.cells[1].textContent,
    owner: row.cells[2].textContent,
  }));
  const leaves = new Map();
  for (const leaf of document.querySelectorAll("svg a[href^='#s']")) leaves.set(leaf.getAttribute("href").slice(1), leaf);
  const drawings = new Map();
  for (const svg of document.querySelectorAll("svg[data-c]")) drawings.set("c" + svg.dataset.c, svg);
  // Not every element of a drawing has the property "hidden".
  const show = (element, shown) => { if (element.hasAttribute("hidden") === shown) element.toggleAttribute("hidden", !shown); };
  let slices, compositions;

  const apply = () => {
    slices ??= rows("table.slices > tbody > tr");
    compositions ??= rows("table.compositions > tbody > tr");
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (text) => words.every((word) => text.includes(word));
    const all = verdicts.every((verdict) => wanted.get(verdict).checked);
    const owners = new Set();
    let found = 0;
    for (const { row, text, stuck, verdict, home, owner } of slices) {
      const shown = wanted.get(verdict).checked && (stuck || !onlyStuck.checked) && has(text);
      show(row, shown);
      leaves.get(row.id)?.classList.toggle("off", !shown);
      if (shown) { found += 1; owners.add(home + "/" + owner); }
    }
    let foundCompositions = 0;
    for (const { row, text, stuck, home, name } of compositions) {
      const shown = owners.has(home + "/" + name) || (all && (stuck || !onlyStuck.checked) && has(text));
      show(row, shown);
      const drawing = drawings.get(row.id);
      if (drawing) show(drawing, shown);
      if (shown) foundCompositions += 1;
    }
    for (const part of document.querySelectorAll("main > section .part:not(:only-child)")) show(part, part.querySelector("tbody > tr:not([hidden])") !== null);
    for (const svg of document.querySelectorAll("svg.branch:not([data-c])")) show(svg, svg.querySelector("a:not(.off)") !== null);
    for (const tree of document.querySelectorAll(".tree")) show(tree, tree.querySelector("svg.branch:not([hidden])") !== null || (all && !onlyStuck.checked && words.length === 0));
    for (const home of document.querySelectorAll(".home")) show(home, home.querySelector(".tree:not([hidden])") !== null);
    const filtered = !all || onlyStuck.checked || words.length > 0;
    document.getElementById("found").textContent = filtered
      ? `Filtered: ${found} of ${slices.length} slices, ${foundCompositions} of ${compositions.length} compositions`
      : "";
  };
  let waiting = 0;
  const soon = () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(apply); };
  form.addEventListener("input", soon);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target !== search && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    }
  });
})();
