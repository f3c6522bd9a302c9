/**
 * The address of the next page from a `Link` header (RFC 8288: `<address>; rel="next", ...`); `undefined` on the last page. Pure.
 */
export const nextLink = (header: string | null): string | undefined => {
  for (const [, address, parameters] of (header ?? '').matchAll(/<([^<>]*)>([^<]*)/g)) {
    const rels = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters ?? '');
    const names = (rels?.[1] ?? rels?.[2] ?? '').toLowerCase().split(/\s+/);
    if (names.includes('next')) return address;
  }
  return undefined;
};
