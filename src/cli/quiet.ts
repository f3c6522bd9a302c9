// Node 22 warns that node:sqlite is experimental. Gyre's users did not ask; every other warning stays.
const emit = process.emitWarning.bind(process) as (...all: unknown[]) => void;
process.emitWarning = (warning: unknown, ...rest: unknown[]) => {
  const type = typeof rest[0] === 'string' ? rest[0] : (rest[0] as { type?: string } | undefined)?.type;
  if (type === 'ExperimentalWarning') return;
  emit(warning, ...rest);
};
