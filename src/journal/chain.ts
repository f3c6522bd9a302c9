// The hash chain over the facts. Format `gyre.journal/1` (docs/formats/journal.md):
//
//   canonical JSON  no blanks; the keys of every object sorted by their UTF-16 code units; strings and numbers as JSON.stringify
//                   writes them (the scheme of RFC 8785).
//   hash            SHA-256, lower-case hexadecimal, over the UTF-8 bytes of the canonical JSON of {at, data, kind, prev, run, seq}.
//   prev            the hash of the fact with seq - 1; sixty-four zeros before the first. seq counts from 1 without gaps.
//
// `data` is kept as canonical text, so that a changed byte, a removed row or a row put in between breaks the chain at that place.
import { hash as digest } from 'node:crypto';

/** The `prev` of the first fact. */
export const genesisHash = '0'.repeat(64);

export interface ChainLink {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly run: string;
  /** Canonical JSON text. */
  readonly data: string;
  readonly prev: string;
}

const byCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** @param value what `JSON.parse` gives; a key whose value is `undefined` is left out */
export const canonicalJson = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  // Built by hand: this is the hottest piece of JavaScript of a step.
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) text += `${text === '' ? '' : ','}${canonicalJson(item)}`;
    return `[${text}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(members).sort(byCodeUnits)) {
    const item = members[key];
    if (item !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(item)}`;
  }
  return `{${text}}`;
};

const canonicalLink = (link: ChainLink, hash?: string): string =>
  `{"at":${link.at},"data":${link.data}${hash === undefined ? '' : `,"hash":"${hash}"`},"kind":${JSON.stringify(link.kind)},` +
  `"prev":"${link.prev}","run":${JSON.stringify(link.run)},"seq":${link.seq}}`;

export const factHash = (link: ChainLink): string => digest('sha256', canonicalLink(link), 'hex');

/** One line of the export: the canonical JSON of a fact with its hash, so that the line without `hash` is what was hashed. */
export const factLine = (link: ChainLink, hash: string): string => canonicalLink(link, hash);

/** The end of the chain as the journal itself keeps it, so that facts cut off at the end are noticed too. */
export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

type ChainReport = { readonly ok: true; readonly facts: number } | { readonly ok: false; readonly seq: number; readonly why: string };

/**
 * Walks a chain from its first fact.
 * @param links in the order of seq
 * @returns the first place that does not hold, as the seq of the fact that is wrong or missing
 */
export const verifyChain = (links: Iterable<ChainLink & { readonly hash: string }>, head: ChainHead): ChainReport => {
  let last: ChainHead = { seq: 0, hash: genesisHash };
  for (const link of links) {
    const wanted = last.seq + 1;
    if (link.seq !== wanted) return { ok: false, seq: wanted, why: `Fact ${wanted} is missing; the next one kept is ${link.seq}.` };
    if (link.prev !== last.hash) return { ok: false, seq: wanted, why: `Fact ${wanted} does not name the hash of the fact before it.` };
    if (link.hash !== factHash(link))
      return { ok: false, seq: wanted, why: `Fact ${wanted} was changed: its hash does not fit its content.` };
    last = { seq: link.seq, hash: link.hash };
  }
  if (last.seq < head.seq) {
    return { ok: false, seq: last.seq + 1, why: `The facts from ${last.seq + 1} to ${head.seq} were cut off the end.` };
  }
  if (last.seq > head.seq || last.hash !== head.hash) {
    return { ok: false, seq: last.seq, why: `Fact ${last.seq} is not the last one the journal wrote (${head.seq}).` };
  }
  return { ok: true, facts: last.seq };
};
