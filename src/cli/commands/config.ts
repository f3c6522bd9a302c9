import { Rejection } from '../../core/fault.ts';
import { gyreJsonSchema, loopJsonSchema } from '../../config/index.ts';
import { configOf } from '../loop-choice.ts';
import { findPlace } from '../place.ts';
import { line, printJson, table } from '../print.ts';
import path from 'node:path';

export const config = async (
  name: string | undefined,
  options: { readonly origin?: boolean; readonly schema?: string; readonly json?: boolean },
): Promise<void> => {
  if (options.schema !== undefined) {
    if (options.schema !== 'loop' && options.schema !== 'gyre')
      throw new Rejection(`--schema: found ${options.schema}, wanted loop or gyre.`);
    printJson(options.schema === 'loop' ? loopJsonSchema() : gyreJsonSchema());
    return;
  }
  const place = await findPlace();
  const source = configOf(place);
  const names = name === undefined ? await source.names() : [name];
  const loops = [];
  for (const one of names) loops.push(await source.load(one));
  if (options.json === true) {
    printJson(
      loops.map((loop) => ({ ...loop.definition, values: options.origin === true ? loop.values : undefined, notices: loop.notices })),
    );
    return;
  }
  for (const { definition, values, notices } of loops) {
    line(`${definition.name} (${path.relative(place.cwd, definition.file) || definition.file})`);
    const rows = values.map(({ key, value, origin }) => {
      const text = JSON.stringify(value) ?? 'none';
      const from = origin.from === 'default' ? 'default' : `${path.relative(place.cwd, origin.file)}:${origin.line ?? 1}`;
      return options.origin === true ? [`  ${key}`, from, text] : [`  ${key}`, text];
    });
    for (const row of table(rows)) line(row);
    for (const notice of notices) line(`  note: ${notice.sentence}`);
  }
};
