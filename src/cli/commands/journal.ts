import { Rejection } from '../../core/fault.ts';
import { findRun, readJournal } from '../place.ts';
import { line, printJson, endWithReader } from '../print.ts';

const noJournal = (): Rejection =>
  new Rejection('There is no journal yet: nothing was run in this repository.', { hint: 'Start with: gyre run' });

export const exportJournal = async (options: { readonly run?: string }): Promise<void> => {
  endWithReader();
  const { reader } = await readJournal();
  if (reader === undefined) throw noJournal();
  if (options.run === undefined) {
    for (const text of reader.exportLines()) line(text);
    return;
  }
  for (const fact of reader.facts({ run: findRun(reader, options.run).id })) line(JSON.stringify(fact));
};

export const verifyJournal = async (options: { readonly json?: boolean }): Promise<void> => {
  const { reader } = await readJournal();
  if (reader === undefined) throw noJournal();
  const result = reader.verify();
  if (options.json === true) printJson(result);
  else if (result.ok) line(`The journal holds: ${result.facts} facts, chain unbroken.`);
  else line(`The journal is damaged at fact ${result.seq}: ${result.why}. Facts before it are intact; keep a copy before anything else.`);
  if (!result.ok) process.exitCode = 5;
};
