"use strict";
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const root = document.documentElement;

  // --- folding: a link opens whatever folds its target ---------------------------------
  const reveal = (id) => {
    const target = document.getElementById(id);
    if (!target) return false;
    for (let one = target.parentElement; one; one = one.parentElement) {
      if (one.localName === "details") one.open = true;
    }
    const head = target.closest("details")?.querySelector("summary");
    const scroll = () => (head ?? target).scrollIntoView({ block: "start" });
    scroll();
    // What is unfolded gets its height only when it is drawn; then once more.
    requestAnimationFrame(() => requestAnimationFrame(scroll));
    head?.focus({ preventScroll: true });
    return true;
  };
  const follow = () => {
    const raw = location.hash.slice(1);
    if (!raw || reveal(raw)) return;
    try { reveal(decodeURIComponent(raw)); } catch { /* not an encoding: no such place */ }
  };
  addEventListener("hashchange", follow);
  addEventListener("DOMContentLoaded", () => { follow(); filter(); root.dataset.ready = ""; });

  // --- filter --------------------------------------------------------------------------
  const form = document.querySelector("form.scripted");
  const field = document.getElementById("filter");
  const status = document.getElementById("shown");
  const toggles = all(".toggle input", form);
  const rows = all("#tests tbody tr").map((element) => ({ element, words: element.dataset.tone, text: element.textContent.toLowerCase() }));
  let details = null;
  const cases = () => {
    // Made when they are all there; until then the table alone is filtered.
    if (details === null && document.readyState !== "loading") {
      details = all("#details > .case").map((element) => ({ element, words: element.dataset.tone, text: element.firstElementChild.textContent.toLowerCase() }));
    }
    return details ?? [];
  };
  const filter = () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const tones = new Set(toggles.filter((one) => one.checked).map((one) => one.value));
    let shown = 0;
    for (const list of [rows, cases()]) {
      for (const { element, words, text } of list) {
        const fits = words.split(" ").some((tone) => tones.has(tone)) && wanted.every((word) => text.includes(word));
        element.hidden = !fits;
        if (fits && list === rows) shown += 1;
      }
    }
    status.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} shown`;
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);

  // --- buttons and keys ----------------------------------------------------------------
  const fold = (open) => all("#details > .case:not([hidden])").forEach((one) => { one.open = open; });
  const theme = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("caesar-theme", root.dataset.theme); } catch { /* not kept */ }
  };
  try {
    const kept = localStorage.getItem("caesar-theme");
    if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  } catch { /* nothing was kept */ }
  form.addEventListener("click", (event) => {
    const what = event.target.dataset?.do;
    if (what === "unfold") fold(true);
    if (what === "fold") fold(false);
    if (what === "theme") theme();
  });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !event.target.closest("input")) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape" && event.target === field) {
      field.value = "";
      filter();
    }
  });

  // --- a command is copied with one click ----------------------------------------------
  document.addEventListener("click", async (event) => {
    const button = event.target.closest?.("button.copy");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.previousElementSibling.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(button.previousElementSibling);
      button.textContent = "Selected";
    }
  });
  document.addEventListener("toggle", (event) => {
    for (const command of all(".command", event.target)) {
      if (command.querySelector("button")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      command.append(button);
    }
  }, true);
})();
