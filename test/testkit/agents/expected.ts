// What two fixture agents print, written down a second time, so that a test does not take the agent's word for it.

/** All that `bytes` prints on stderr, and first on stdout. */
export const oddBytes: Buffer = Buffer.concat([
  Buffer.from('efbbbf', 'hex'),
  Buffer.from(Array.from({ length: 256 }, (_, value) => value)),
  Buffer.from('80bf800ac30af09f0a00000a', 'hex'),
]);

/** The text of the only event of `slow-letters`; its letters take one to four bytes. */
export const slowText = 'Caf\u00e9 \u{1F680} d\u00e9j\u00e0 vu';
