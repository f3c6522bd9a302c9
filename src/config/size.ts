export const sizePattern = /^\d{1,9}[kKmMgG]?[bB]$/;

const factors: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 };

/**
 * Bytes of a size such as `10mb` (a kilobyte is 1024 bytes here).
 * @returns `undefined` for anything else
 */
export const parseSize = (text: string): number | undefined => {
  const [, digits, unit] = /^(\d{1,9})([kmg]?b)$/i.exec(text) ?? [];
  return digits === undefined || unit === undefined ? undefined : Number(digits) * (factors[unit.toLowerCase()] ?? 1);
};
