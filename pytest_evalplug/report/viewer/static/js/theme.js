// Light or dark: the system's way until one is chosen.

const CHOICES = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" };

/** Let the button go through the choices; the last one is remembered if the browser lets us. */
export function installTheme(button) {
  const set = (choice) => {
    document.documentElement.dataset.theme = choice;
    button.textContent = CHOICES[choice];
    button.setAttribute("aria-label", `Theme: ${choice}`);
    remember(choice);
  };
  button.addEventListener("click", () => {
    const names = Object.keys(CHOICES);
    set(names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length]);
  });
  set(remembered());
}

function remember(choice) {
  try {
    localStorage.setItem("evalplug-theme", choice);
  } catch {
    // a file may have no storage
  }
}

function remembered() {
  try {
    const choice = localStorage.getItem("evalplug-theme");
    return choice in CHOICES ? choice : "auto";
  } catch {
    return "auto";
  }
}
