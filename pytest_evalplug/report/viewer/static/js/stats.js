// What charts count.

/** Return bins of equal width on a round step: [{from, to, counts: {letter: n}}]. */
export function histogram(values, letters, most = 24) {
  let top = 0;
  for (const value of values) if (value > top) top = value;
  const step = roundStep((capped(values) || top || 1) / most);
  const size = Math.min(Math.floor(top / step) + 1, most);
  const bins = Array.from({ length: size }, (_, i) => ({
    from: i * step,
    to: (i + 1) * step,
    counts: {},
  }));
  bins[size - 1].to = Math.max(bins[size - 1].to, top);
  values.forEach((value, i) => {
    if (value === null || value === undefined) return;
    const { counts } = bins[Math.min(size - 1, Math.floor(value / step))];
    counts[letters[i]] = (counts[letters[i]] ?? 0) + 1;
  });
  return bins;
}

/** Return the 99th percentile: a few endless replies shall not flatten all others. */
function capped(values) {
  const sorted = values.filter((v) => v !== null && v !== undefined).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)];
}

function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((f) => f * power).find((step) => step >= least);
}

/**
 * Return the reliability diagram's bins and the expected calibration error, 0 to 1: the mean
 * distance of confidence and accuracy, weighted by samples (Guo et al. 2017, arXiv:1706.04599).
 */
export function calibration(confidences, letters, size = 10) {
  const bins = Array.from({ length: size }, (_, i) => ({
    from: i / size,
    to: (i + 1) / size,
    n: 0,
    right: 0,
    sum: 0,
  }));
  confidences.forEach((confidence, i) => {
    if (typeof confidence !== "number" || !"rw".includes(letters[i])) return;
    const bin = bins[Math.min(size - 1, Math.floor(confidence * size))];
    bin.n += 1;
    bin.sum += confidence;
    bin.right += letters[i] === "r";
  });
  const total = bins.reduce((sum, bin) => sum + bin.n, 0);
  const ece = bins.reduce((sum, bin) => sum + Math.abs(bin.right - bin.sum), 0) / (total || 1);
  return { bins, total, ece };
}
