import { z } from 'zod';
import { cutMiddle, oneLine, plainText } from '../core/text.ts';
import type { Task } from '../core/task.ts';
import { found, keyOf, taskBodyLetters, taskTextLetters, type Found } from './found.ts';

/** One line of a `command:` source. */
const lineSchema = z.strictObject({
  key: z.string().trim().min(1).max(1_000),
  title: z.string().trim().min(1),
  body: z.string().optional(),
  evidence: z.string().optional(),
  priority: z.number().optional(),
  touches: z.array(z.string()).optional(),
  trust: z.enum(['trusted', 'repository', 'outside']).optional(),
  claim: z.string().trim().min(1).max(300).optional(),
  needs: z.array(z.string().trim().min(1).max(1_000)).max(100).optional(),
});

/** Most bad lines that are described one by one. */
const linesDescribed = 10;
/** So many bad lines are no list of tasks with a slip in it: what comes after them is not looked at. */
const badLinesMax = 1_000;

const parse = (line: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(line) as unknown };
  } catch {
    return undefined;
  }
};

const cut = (text: string | undefined): string => cutMiddle(plainText(text ?? ''), taskTextLetters);

const taskOf = (line: z.infer<typeof lineSchema>, source: string): Task => ({
  key: keyOf('item', line.key),
  title: oneLine(line.title),
  body: cutMiddle(plainText(line.body ?? ''), taskBodyLetters),
  evidence: cut(line.evidence),
  priority: line.priority ?? 0,
  touches: line.touches ?? [],
  // A line may lower its trust and never raise it: only the loop's owner writes trusted text (L12).
  trust: line.trust === undefined || line.trust === 'outside' ? 'outside' : 'repository',
  source,
  proof: { by: 'checks' },
  ...(line.claim === undefined ? {} : { claim: oneLine(line.claim, 300) }),
  // A need names the key of another line, as that line's own `key` does.
  ...(line.needs === undefined ? {} : { needs: [...new Set(line.needs.map((key) => keyOf('item', key)))] }),
});

/** Reads the JSON lines a command printed. Pure. Good lines are kept; a bad one is a problem with its number and what is wrong. */
export const taskLines = (text: string, source: string): Found => {
  const tasks: Task[] = [];
  const bad: string[] = [];
  const problems: string[] = [];
  const seen = new Map<string, number>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    if (bad.length === badLinesMax) {
      problems.push(`${source}: it was not read beyond ${badLinesMax} bad lines, up to line ${index}.`);
      break;
    }
    const at = `line ${index + 1}`;
    const json = parse(line);
    if (json === undefined) {
      bad.push(`${at} is not JSON: ${oneLine(line, 80)}`);
      continue;
    }
    const checked = lineSchema.safeParse(json.value);
    if (!checked.success) {
      bad.push(`${at}: ${checked.error.issues.map((issue) => `${issue.path.join('.') || 'the line'}: ${issue.message}`).join('; ')}`);
      continue;
    }
    const task = taskOf(checked.data, source);
    const first = seen.get(task.key);
    if (first !== undefined) {
      bad.push(`${at} has the key of line ${first}: ${JSON.stringify(oneLine(checked.data.key, 80))}`);
      continue;
    }
    seen.set(task.key, index + 1);
    tasks.push(task);
  }
  problems.unshift(...bad.slice(0, linesDescribed).map((sentence) => `${source}: ${sentence}.`));
  if (bad.length > linesDescribed) problems.push(`${source}: ${bad.length - linesDescribed} more lines could not be read.`);
  return found({ tasks, problems });
};
