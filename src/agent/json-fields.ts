// Agents change what they print from version to version. A field that is missing or of another kind is `undefined` here, never an error.
import { plainText } from '../core/text.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export const asObject = (value: unknown): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

/** The list at a key; empty where there is none. */
export const listAt = (object: JsonObject | undefined, key: string): readonly unknown[] => {
  const value = object?.[key];
  return Array.isArray(value) ? value : [];
};

export const objectAt = (object: JsonObject | undefined, key: string): JsonObject | undefined => asObject(object?.[key]);

/** Text without lone surrogates, so that it can be stored as UTF-8. */
export const textAt = (object: JsonObject | undefined, key: string): string | undefined => {
  const value = object?.[key];
  return typeof value === 'string' ? value.toWellFormed() : undefined;
};

/** A count or an amount: finite and not negative. */
export const numberAt = (object: JsonObject | undefined, key: string): number | undefined => {
  const value = object?.[key];
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
};

const parsed = (text: string): JsonObject | undefined => {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
};

/** The JSON object that a line holds; `undefined` for any other line. Terminal codes and a byte order mark around it are overlooked. */
export const jsonObjectOf = (line: string): JsonObject | undefined => {
  // JSON.parse of megabytes of plain output would cost more than the agent: look for a brace first.
  const brace = line.indexOf('{');
  if (brace === -1 || brace > 64) return undefined;
  const direct = parsed(line);
  if (direct !== undefined) return direct;
  // Valid JSON holds no raw control character, so taking them away cannot change an event.
  const plain = plainText(line);
  return plain === line ? undefined : parsed(plain.trim());
};
