import { looksLikeFile } from './clean-paths.ts';

/** A test point with what stands around it. */
export interface TapPoint {
  readonly name: string;
  readonly ok: boolean;
  readonly directive: 'skip' | 'todo' | undefined;
  /** Lines of the YAML block, indent taken off, without measures. */
  diagnostic: string[];
  /** Comments between the previous point and this one: what the file printed. */
  readonly before: readonly string[];
  /** File of the YAML key `location`, without line and column. */
  location: string | undefined;
  failureType: string | undefined;
  suite: boolean;
  /** Whether the YAML block holds Node's `duration_ms`. */
  timed: boolean;
  children: TapPoint[];
}

export interface TapDocument {
  readonly points: readonly TapPoint[];
  /** The comments after the last plan that read `# <word> <number>`: Node's summary. */
  readonly totals: ReadonlyMap<string, number>;
  /** Why the document cannot be trusted, if so. */
  readonly broken: string | undefined;
}

interface Frame {
  readonly indent: number;
  readonly points: TapPoint[];
  plan: number | undefined;
}

const pointLine = /^(not )?ok(?=\s|$)(?: (\d+))?(?: -)?(.*)$/;
const planLine = /^1\.\.(\d+)(?:\s|$)/;
const totalLine = /^# (\w+) (\d+)$/;
// A test's name never takes a line this long; output can, and no pattern is tried on it.
const lineLetters = 20_000;

const indentOf = (line: string): number => line.length - line.trimStart().length;
const unescape = (text: string): string => text.replace(/\\([\\#])/g, '$1');

/** Splits `name # SKIP why`; a `#` after a backslash belongs to the name. */
const splitDirective = (rest: string): { readonly name: string; readonly directive: 'skip' | 'todo' | undefined } => {
  for (let at = rest.indexOf('#'); at !== -1; at = rest.indexOf('#', at + 1)) {
    const slashes = /\\*$/.exec(rest.slice(Math.max(0, at - 64), at))?.[0].length ?? 0;
    if (slashes % 2 === 1 || (at > 0 && rest[at - 1] !== ' ')) continue;
    const word = /^#\s*(skip|todo|time=)/i.exec(rest.slice(at))?.[1]?.toLowerCase();
    if (word === undefined) continue;
    return { name: unescape(rest.slice(0, at).trim()), directive: word === 'skip' || word === 'todo' ? word : undefined };
  }
  return { name: unescape(rest.trim()), directive: undefined };
};

const sameFile = (location: string, name: string): boolean => location === name || location.endsWith(`/${name}`);

/** Node lists every file without tests, or that ended before its tests could speak, as if the file were a test. */
export const isFilePoint = (point: TapPoint): boolean => {
  if (point.children.length > 0 || point.location === undefined) return looksLikeFile(point.name);
  return sameFile(point.location, point.name);
};

const readDiagnostic = (point: TapPoint, lines: readonly string[], indent: number): void => {
  for (const raw of lines) {
    const line = raw.slice(Math.min(indent, indentOf(raw)));
    const [, key, value = ''] = (line.length <= lineLetters ? /^(\w+): '?(.*?)'?$/.exec(line) : null) ?? [];
    if (key === 'duration_ms') point.timed = true;
    else if (key === 'type') point.suite = value === 'suite';
    else {
      if (key === 'failureType') point.failureType = value;
      if (key === 'location') point.location = value.replaceAll('\\\\', '/').replace(/:\d+:\d+$/, '');
      point.diagnostic.push(line);
    }
  }
};

/** Reads one TAP document from its lines (after the version line). Lines that are not TAP are somebody's output and passed over. */
export const readTapDocument = (lines: readonly string[]): TapDocument => {
  const frames: Frame[] = [{ indent: 0, points: [], plan: undefined }];
  const totals = new Map<string, number>();
  let comments: string[] = [];
  let openBraces = 0;
  let problem: string | undefined;
  const fail = (why: string): void => {
    problem ??= why;
  };

  const frameAt = (indent: number): Frame => {
    const top = frames.at(-1);
    if (top !== undefined && top.indent === indent) return top;
    const frame: Frame = { indent, points: [], plan: undefined };
    frames.push(frame);
    return frame;
  };
  const close = (frame: Frame): void => {
    if (frame.plan !== undefined && frame.plan !== frame.points.length)
      fail(`its plan says ${frame.plan} tests, but ${frame.points.length} were read`);
  };
  /** Closes what is deeper than `indent` and gives the points that stood there. */
  const takeDeeper = (indent: number): TapPoint[] => {
    let taken: TapPoint[] = [];
    for (let top = frames.at(-1); top !== undefined && top.indent > indent; top = frames.at(-1)) {
      if (taken.length > 0) fail('tests stand below an entry that never came');
      close(top);
      taken = top.points;
      frames.pop();
    }
    return taken;
  };

  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.length > lineLetters) continue;
    const text = line.trim();
    const indent = indentOf(line);
    if (text.startsWith('#')) {
      const total = indent === 0 && frames[0]?.plan !== undefined ? totalLine.exec(line) : null;
      if (total !== null) totals.set(total[1] ?? '', Number(total[2]));
      else if (!text.startsWith('# Subtest')) comments.push(unescape(text.replace(/^# ?/, '')));
      continue;
    }
    if (indent === 0 && text.startsWith('Bail out!'))
      fail(`the run bailed out (${text.slice('Bail out!'.length).trim() || 'no reason given'})`);
    const planned = planLine.exec(text);
    if (planned !== null) {
      frameAt(indent).plan = Number(planned[1]);
      continue;
    }
    if (text === '}') {
      openBraces -= 1;
      const inside = takeDeeper(indent);
      frames
        .at(-1)
        ?.points.at(-1)
        ?.children.push(...inside);
      continue;
    }
    const matched = pointLine.exec(text);
    if (matched === null) continue;
    const children = takeDeeper(indent);
    const frame = frameAt(indent);
    const number = matched[2] === undefined ? frame.points.length + 1 : Number(matched[2]);
    const follows = frame.points.length;
    const { name, directive } = splitDirective((matched[3] ?? '').replace(/ \{$/, ''));
    const point: TapPoint = {
      name,
      directive,
      children,
      ok: matched[1] === undefined,
      before: comments,
      diagnostic: [],
      location: undefined,
      failureType: undefined,
      suite: false,
      timed: false,
    };
    comments = [];
    frame.points.push(point);
    if (text.endsWith(' {')) openBraces += 1;
    if (at === lines.length - 1) fail('its last line has no end');
    const opening = lines[at + 1];
    if (opening?.trim() === '---' && indentOf(opening) > indent) {
      const ending = `${opening.slice(0, indentOf(opening))}...`;
      const end = lines.indexOf(ending, at + 2);
      if (end === -1) fail('a diagnostic block never ends');
      const block = lines.slice(at + 2, end === -1 ? lines.length : end);
      readDiagnostic(point, block, indentOf(opening));
      at += block.length + 2;
    }
    // Node numbers the entry of a file by the place of the file and everything else by the tests so far; its plan counts both.
    const byFile = indent === 0 && point.timed && isFilePoint(point);
    if (number !== follows + 1 && !byFile) fail(`test ${number} follows test ${follows}`);
  }

  if (takeDeeper(0).length > 0) fail('tests stand below an entry that never came');
  if (openBraces !== 0) fail('a suite never closes');
  const top = frames[0];
  if (top?.plan === undefined) fail('it has no plan line, so it broke off');
  else close(top);
  return { points: top?.points ?? [], totals, broken: problem };
};
