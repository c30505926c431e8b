// The part of a page that moves: fetched again and again while somebody looks. Without scripts the pages are whole, and still.
"use strict";

for (const region of document.querySelectorAll("[data-live]")) {
  const every = Number(region.dataset.every);
  const look = async () => {
    if (!document.hidden && !region.contains(document.getSelection().isCollapsed ? null : document.getSelection().anchorNode)) {
      try {
        const answer = await fetch(region.dataset.live, { cache: "no-store" });
        if (answer.ok) show(region, await answer.text());
        region.classList.toggle("stale", !answer.ok);
      } catch {
        region.classList.add("stale"); // the server is gone; what is shown is old
      }
    }
    setTimeout(look, every);
  };
  setTimeout(look, every);
}

function show(region, html) {
  // What a person has opened, and where the keyboard is, stays.
  const opened = new Map([...region.querySelectorAll("details[data-keep]")].map((each) => [each.dataset.keep, each.open]));
  const state = region.querySelector("[data-state]")?.dataset.state;
  const active = region.contains(document.activeElement) ? document.activeElement : null;
  const same = active && [...region.querySelectorAll(active.localName)].indexOf(active);
  region.innerHTML = html;
  // A crawl that began, ended, was paused or resumed: the buttons around it are others now.
  if (region.querySelector("[data-state]")?.dataset.state !== state) location.reload();
  for (const each of region.querySelectorAll("details[data-keep]")) {
    if (opened.has(each.dataset.keep)) each.open = opened.get(each.dataset.keep);
  }
  if (active) region.querySelectorAll(active.localName)[same]?.focus({ preventScroll: true });
}

// "/" goes to the search field, as in many places.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) return;
  const field = document.querySelector("[data-slash]");
  if (field) {
    event.preventDefault();
    field.focus();
  } else {
    location.assign("/search");
  }
});
