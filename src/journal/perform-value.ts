import { canonicalJson } from './chain.ts';
import { decodeJson, encodeJson } from './json.ts';
import { assertDomainKind } from './names.ts';
import { freshStep, replayed, type Scope } from './scope.ts';
import { writeDomainFact } from './step-records.ts';

/** A value that is taken once and recorded; there is no effect, so no intent either. */
export const performValue = async (scope: Scope, key: string, take: () => unknown): Promise<unknown> => {
  const known = replayed(scope, scope.enter(key, 'value'));
  if (known !== undefined) return known.value;
  return scope.perform(() => scope.complete(freshStep(key, 'value', scope.run.generation), take()));
};

/** A domain fact, once. */
export const performRecord = async (scope: Scope, key: string, fact: { readonly kind: string; readonly data: unknown }): Promise<void> => {
  assertDomainKind(fact.kind);
  if (replayed(scope, scope.enter(key, 'fact')) !== undefined) return;
  const data = canonicalJson(decodeJson(encodeJson(fact.data, `The fact ${fact.kind}`)));
  const step = { ...freshStep(key, 'fact', scope.run.generation), state: 'done' as const };
  await scope.perform(async () => {
    await scope.store.write((transaction) => writeDomainFact(transaction, scope.run.id, step, { kind: fact.kind, data }));
    scope.steps.set(key, step);
  });
};

/** 122 random bits in the form of RFC 9562, version 4. */
export const uuidOf = (chance: () => number): string => {
  const bytes = Array.from({ length: 16 }, () => Math.floor(chance() * 256));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};
