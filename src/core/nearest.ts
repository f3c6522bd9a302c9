/** Fewest insertions, deletions, replacements and swaps of neighbours that make one text the other (Damerau-Levenshtein), by rows. */
export const editDistance = (a: string, b: string): number => {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same, swapped));
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
};

/** Letter case and the way words are joined (`noProgress`, `no_progress`) are not what people mean to say. */
const plain = (text: string): string =>
  text
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();

/**
 * The known word a person most likely meant: at most one edit in three letters (and always one) away.
 * Of equally near words the one with the same first letter wins, then the first.
 */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  let best: { readonly candidate: string; readonly cost: number } | undefined;
  for (const candidate of known) {
    const most = Math.max(1, Math.floor(candidate.length / 3));
    // Keeps a hostile, very long word from costing anything.
    if (word.length > 2 * candidate.length + 3) continue;
    const distance = Math.min(editDistance(word, candidate), editDistance(plain(word), candidate));
    const cost = distance + (candidate[0] === word[0] ? 0 : 0.5);
    if (distance <= most && (best === undefined || cost < best.cost)) best = { candidate, cost };
  }
  return best?.candidate;
};
