// Everything the command line writes to stdout goes through here.

export const line = (text = ''): void => {
  process.stdout.write(`${text}\n`);
};

export const printJson = (value: unknown): void => line(JSON.stringify(value, null, 2));

/** Columns padded to their widest cell; the last one is not padded. Control characters must be gone from the cells already. */
export const table = (rows: readonly (readonly string[])[]): string[] => {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
};

/** The reader of a pipe went away (EPIPE), or the terminal did (EIO). */
const isGone = (error: NodeJS.ErrnoException): boolean => error.code === 'EPIPE' || error.code === 'EIO';

/** A reader that went away (`gyre run | head`, a closed terminal) takes no run with it: what it would have read is dropped. */
export const outliveReaders = (): void => {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!isGone(error)) throw error;
    });
};

/** For commands that do nothing but print: without a reader (`gyre logs | head`) there is nothing left to do. */
export const endWithReader = (): void => {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isGone(error)) process.exit(0);
  });
};

/** `3.2 s`, `2 min 5 s`, `850 ms`. */
export const duration = (ms: number): string =>
  ms < 1_000
    ? `${Math.round(ms)} ms`
    : ms < 60_000
      ? `${(ms / 1_000).toFixed(1)} s`
      : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
