// Puts the parts of a file that define a check back to what they were on base, and leaves the rest as the candidate wants it: a change of
// `dependencies` in package.json is work, a change of `scripts.test` moves the goal.

export type Graft =
  | { readonly graft: 'same' }
  | { readonly graft: 'text'; readonly text: string }
  /** One side cannot be read, so no part can be told from another: the whole file has to stand as on base. */
  | { readonly graft: 'impossible' };

const asObject = (text: string): Record<string, unknown> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
};

/** Top-level keys of a JSON file. A missing base file counts as one without these keys. */
export const graftJson = (base: string | undefined, candidate: string, keys: readonly string[]): Graft => {
  const from = base === undefined ? {} : asObject(base);
  const into = asObject(candidate);
  if (from === undefined || into === undefined) return { graft: 'impossible' };
  const changed = keys.filter((key) => JSON.stringify(from[key]) !== JSON.stringify(into[key]));
  if (changed.length === 0) return { graft: 'same' };
  const result: Record<string, unknown> = { ...into };
  for (const key of changed) {
    if (from[key] === undefined) delete result[key];
    else result[key] = from[key];
  }
  return { graft: 'text', text: `${JSON.stringify(result, undefined, 2)}\n` };
};

/** Splits INI or TOML by its `[headers]`: each part is the header line and what follows it. */
const partsOf = (text: string): readonly string[] => text.split(/^(?=[ \t]*\[)/m);

/** Blank lines around a section mean nothing. */
const form = (parts: readonly string[]): string => parts.map((part) => part.trim()).join('\n');

/** Sections of an INI or TOML file whose header matches. Comments and blanks inside a section belong to it. */
export const graftSections = (base: string | undefined, candidate: string, sections: RegExp): Graft => {
  const isGate = (part: string): boolean => sections.test(part.trimStart());
  const wanted = partsOf(base ?? '').filter((part) => isGate(part));
  const parts = partsOf(candidate);
  const found = parts.filter((part) => isGate(part));
  if (form(wanted) === form(found)) return { graft: 'same' };
  const rest = parts.filter((part) => !isGate(part)).join('');
  return { graft: 'text', text: [rest.trimEnd(), ...wanted.map((part) => part.trim()), ''].join('\n\n') };
};
