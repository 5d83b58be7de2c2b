  // Light and dark.
  const root = document.documentElement;
  const theme = (name) => { root.dataset.theme = name; document.dispatchEvent(new Event("theme")); };
  theme(window.matchMedia && window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.getElementById("theme").addEventListener("click", () => theme(root.dataset.theme === "dark" ? "light" : "dark"));
