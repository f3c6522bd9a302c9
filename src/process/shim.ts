// Entry of the shim: `node shim.ts <job folder>`. Started by the host for one job; it imports little, because its start-up is paid for
// every process that Gyre runs. What it has to complain about goes to stderr, which is shim.log in the job folder.
import { stepBack } from './priority.ts';
import { supervise } from './supervisor.ts';

const [jobDir] = process.argv.slice(2);
if (jobDir === undefined) {
  process.stderr.write('Usage: shim <job folder>\n');
  process.exit(2);
}
stepBack();
try {
  await supervise(jobDir, process.env);
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}
