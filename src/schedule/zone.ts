/** Whether this Node knows a time zone by that IANA name. Offsets such as `+02:00` are no zones: they have no daylight saving. */
export const isZone = (name: string): boolean => {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

/** Names a person may have meant. */
export const zoneNames = (): readonly string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')];

const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  formats.set(zone, made);
  return made;
};

/** The wall clock of a zone at an instant, as if it were UTC. Whole seconds. */
export const wallMs = (zone: string, at: number): number => {
  const part: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of formatOf(zone).formatToParts(at)) part[type] = value;
  return Date.UTC(Number(part.year), Number(part.month) - 1, Number(part.day), Number(part.hour), Number(part.minute), Number(part.second));
};

/** What a zone's clocks are ahead of UTC at an instant. */
export const offsetMs = (zone: string, at: number): number => wallMs(zone, at) - Math.floor(at / 1000) * 1000;

/** `2026-10-25 02:30 Europe/Berlin`, for people; with seconds where there are any. */
export const localText = (zone: string, at: number): string => {
  const wall = new Date(wallMs(zone, at)).toISOString();
  const letters = wall.slice(17, 19) === '00' ? 16 : 19;
  return `${wall.slice(0, letters).replace('T', ' ')} ${zone}`;
};
