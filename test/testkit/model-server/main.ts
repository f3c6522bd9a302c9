// The model server as a program, to try an agent by hand or from a script.
// Usage: node test/testkit/model-server/main.ts [--port 4010] [--scenarios file.json] [--log requests.jsonl]
// Prints one line with its address on stdout when it is ready, then runs until SIGINT or SIGTERM. The log has no headers and no bodies.
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { ServedRequest } from './index.ts';
import { readScenarios, standardScenarios, startModelServer } from './index.ts';

const lineOf = ({ headers: _headers, body: _body, ...rest }: ServedRequest): string => `${JSON.stringify(rest)}\n`;

const main = async (): Promise<void> => {
  const { values } = parseArgs({ options: { port: { type: 'string' }, scenarios: { type: 'string' }, log: { type: 'string' } } });
  const port = Number(values.port ?? 4010);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`--port ${values.port} is not a port: 0 to 65535 is wanted.`);
  const scenarios = values.scenarios === undefined ? standardScenarios : await readScenarios(values.scenarios);
  const { log } = values;
  const server = await startModelServer({
    scenarios,
    port,
    ...(log === undefined ? {} : { log: (request: ServedRequest) => appendFileSync(log, lineOf(request)) }),
  });
  process.stdout.write(`Scripted model at ${server.url}\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server[Symbol.asyncDispose]());
};

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
