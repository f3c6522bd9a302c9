// Once before all tests: the program as it is published. Scenes run the bundle, as users do, and it starts several times faster than the
// sources, which matters where every scene starts it a dozen times.
import { spawnSync } from 'node:child_process';

export default (): void => {
  const built = spawnSync('tsdown', ['--log-level', 'error'], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`The program could not be built:\n${built.stdout}${built.stderr}`);
};
