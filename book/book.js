// Search, copy buttons, arrow keys and the switch for light and dark. Without this script the pages read as well.
(function () {
  "use strict";
  const root = document.currentScript.dataset.root;
  const doc = document.documentElement;

  // --- Light and dark ------------------------------------------------------------------------------
  function themeButton(button) {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const dark = () => doc.dataset.theme ? doc.dataset.theme === "dark" : system.matches;
    const show = () => {
      button.textContent = dark() ? "Light" : "Dark";
      button.setAttribute("aria-label", dark() ? "Light colours" : "Dark colours");
    };
    button.addEventListener("click", () => {
      doc.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("theme", doc.dataset.theme); } catch (e) { /* This page only, then. */ }
      show();
    });
    system.addEventListener("change", show);
    button.hidden = false;
    show();
  }

  // --- Copies of commands --------------------------------------------------------------------------
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch (e) {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }

  // Two sheets, or a tick once the text is copied.
  const SHEETS = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3 11V2h8M6 5h8v9H6z"/></svg>';
  const TICK = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3 8l4 4 7-8"/></svg>';

  function copyButton(code) {
    const text = code.textContent.replace(/ +# .*$/gm, "").trimEnd();
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.innerHTML = SHEETS;
    button.title = "Copy";
    button.setAttribute("aria-label", "Copy: " + text);
    button.addEventListener("click", async () => {
      await copy(text);
      button.innerHTML = TICK;
      setTimeout(() => { button.innerHTML = SHEETS; }, 1500);
    });
    return button;
  }

  function copyButtons() {
    for (const code of document.querySelectorAll("main code")) {
      const block = code.closest("pre");
      if (block ? block.classList.contains("sh") : /^(\w+=\S+ +)*(make|sh|git) +\S/.test(code.textContent)) {
        (block || code).after(copyButton(code));
      }
    }
  }

  // --- Arrow keys ----------------------------------------------------------------------------------
  function turnPages(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
    // These scroll or move by arrows themselves.
    if (event.target.closest("input, select, textarea, .figure, .wide, .display, pre, div.sourceCode")) return;
    const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    const link = rel && document.querySelector('a[rel="' + rel + '"]');
    if (link) location.href = link.href;
  }

  // --- Search --------------------------------------------------------------------------------------
  // SECTIONS is in search.js, which is read when a search begins: [page, id, page's title, heading, text] each.
  let loading;
  function sections() {
    loading = loading || new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = root + "search.js";
      script.onload = () => done(window.SECTIONS);
      script.onerror = () => failed(new Error("search.js is missing: make book again"));
      document.head.append(script);
    });
    return loading;
  }

  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  // A word is found where one begins with it.
  const pattern = (word) => new RegExp((/^\w/.test(word) ? "\\b" : "") + escaped(word), "gi");

  // Sections that have all words, best first: a word of a heading counts ten, of the page's title three.
  function search(list, query) {
    const words = query.trim().split(/\s+/).filter(Boolean).map(pattern);
    if (!words.length) return [];
    const found = [];
    for (const section of list) {
      let points = 0;
      for (const word of words) {
        const inText = (section[4].match(word) || []).length;
        const inHeading = (section[3].match(word) || []).length;
        const inTitle = (section[2].match(word) || []).length;
        if (!inText && !inHeading && !inTitle) {
          points = 0;
          break;
        }
        points += Math.min(inText, 5) + 10 * inHeading + 3 * inTitle + (section[0] === "glossary" ? 1 : 0);
      }
      if (points) found.push({ section, points });
    }
    found.sort((a, b) => b.points - a.points);
    return found.map((f) => f.section);
  }

  function excerpt(text, query) {
    const at = Math.max(0, text.search(pattern(query.trim().split(/\s+/)[0])));
    const begin = at > 60 ? text.indexOf(" ", at - 60) + 1 : 0;
    return (begin ? "… " : "") + text.slice(begin, begin + 140) + (text.length > begin + 140 ? " …" : "");
  }

  function searchForm(form) {
    const input = form.querySelector("input");
    const results = form.querySelector(".results");
    const MOST = 20;
    const close = () => { results.hidden = true; };
    async function show() {
      const query = input.value;
      if (!query.trim()) return close();
      let list;
      try {
        list = await sections();
      } catch (e) {
        results.textContent = e.message;
        results.hidden = false;
        return undefined;
      }
      if (query !== input.value) return undefined;
      const found = search(list, query);
      const count = document.createElement("p");
      count.textContent = found.length === 0 ? "Nothing has all of these words."
        : found.length + (found.length === 1 ? " section" : " sections")
          + (found.length > MOST ? ", the best " + MOST + ":" : ":");
      const links = found.slice(0, MOST).map(([page, id, title, heading, text]) => {
        const link = document.createElement("a");
        link.href = root + page + ".html#" + id;
        const name = document.createElement("b");
        name.textContent = title === heading ? title : title + " · " + heading;
        const line = document.createElement("span");
        line.textContent = excerpt(text, query);
        link.append(name, line);
        return link;
      });
      results.replaceChildren(count, ...links);
      results.hidden = false;
      return undefined;
    }
    // Up and down go from the field through the results and back.
    function move(event) {
      if (event.key === "Escape") {
        close();
        input.focus();
        return;
      }
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || results.hidden) return;
      const stops = [input, ...results.querySelectorAll("a")];
      const next = stops[stops.indexOf(document.activeElement) + step];
      if (next) next.focus();
      event.preventDefault();
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const first = results.querySelector("a");
      if (first && !results.hidden) location.href = first.href;
    });
    input.addEventListener("input", show);
    input.addEventListener("focus", () => { sections().catch(() => {}); });
    form.addEventListener("keydown", move);
    form.addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
    document.addEventListener("click", (event) => { if (!form.contains(event.target)) close(); });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
      event.preventDefault();
      input.focus();
    });
    form.hidden = false;
  }

  const button = document.querySelector("button.theme");
  if (button) themeButton(button);
  const form = document.querySelector("form.search");
  if (form) searchForm(form);
  copyButtons();
  document.addEventListener("keydown", turnPages);
  // The contents are long: the page's own place in them is shown.
  const nav = document.querySelector("nav.toc");
  const here = nav && nav.querySelector(".here");
  if (here) nav.scrollTop = Math.max(0, here.offsetTop - 80);
})();
