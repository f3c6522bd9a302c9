// Values that are taken once and recorded. There is no effect, so no intent either.
import { inFact, toText } from './payload.ts';
import { complete, enter, type Frame, fresh, mayPerform, park, putStep, replayed } from './frame.ts';
import { assertDomainKind } from '../names.ts';

export const performValue = async <T extends number | string>(frame: Frame, key: string, take: () => T): Promise<T> => {
  const known = replayed(frame, enter(frame, key, 'value'));
  if (known !== undefined) return known.value as T;
  return (await complete(frame, fresh(frame, key, 'value'), take())) as T;
};

export const performRecord = async (frame: Frame, key: string, fact: { readonly kind: string; readonly data: unknown }): Promise<void> => {
  assertDomainKind(fact.kind);
  if (replayed(frame, enter(frame, key, 'fact')) !== undefined) return;
  const data = inFact(toText(fact.data, `The fact ${fact.kind}`));
  const { life, run } = frame.shared;
  await life.write((write) => {
    putStep(frame, { ...fresh(frame, key, 'fact'), state: 'done' });
    write.fact(fact.kind, run, data ?? null);
  });
};

/** The newest version this code knows, on the first execution; the recorded one ever after. One outside the range parks the run. */
export const performVersion = async (frame: Frame, change: { id: string; min: number; max: number }): Promise<number> => {
  const { id, min, max } = change;
  const known = replayed(frame, enter(frame, `version:${id}`, 'version'));
  if (known === undefined) return (await complete(frame, fresh(frame, `version:${id}`, 'version'), max)) as number;
  const version = Number(known.value);
  if (version >= min && version <= max) return version;
  // The same code will never know it: each resume parks it again.
  for (;;) {
    const message = `Run ${frame.shared.run} follows version ${version} of the change ${id}; this code knows ${min} to ${max}.`;
    await park(frame, { code: 'VERSION_UNSUPPORTED', message });
    await mayPerform(frame);
  }
};

/** A random UUID (version 4, RFC 9562) from draws in [0, 1). */
export const uuidFrom = (draw: () => number): string => {
  const hex = Array.from({ length: 32 }, () => Math.floor(draw() * 16));
  hex[12] = 4;
  hex[16] = 8 + ((hex[16] ?? 0) % 4);
  const text = hex.map((digit) => digit.toString(16)).join('');
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join('-');
};
