// Numbers and words as they are shown.

export const OUTCOMES = {
  r: { word: "right", symbol: "✓" },
  w: { word: "wrong", symbol: "✗" },
  e: { word: "error", symbol: "!" },
  s: { word: "skipped", symbol: "⊘" },
  n: { word: "no verdict", symbol: "·" },
};

export function count(number) {
  return (number ?? 0).toLocaleString("en");
}

export function plural(number, word) {
  return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

export function score(value, digits = 2) {
  return value === null || value === undefined ? "–" : value.toFixed(digits);
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "";
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [
    Math.floor(whole / 3600),
    Math.floor(whole / 60) % 60,
    whole % 60,
  ];
  const two = (n) => String(n).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** Return a run's name as a time, where it is one. */
export function when(name) {
  const found = /^(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)(-\d+)?$/.exec(name);
  return found
    ? `${found[1]}-${found[2]}-${found[3]} ${found[4]}:${found[5]}:${found[6]}${found[7] ?? ""}`
    : name;
}
