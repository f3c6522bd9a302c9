import { Defect, type Issue } from '../core/fault.ts';
import { gyreShape, type GyreInput } from './gyre-schema.ts';
import { splitLoopFile } from './front-matter.ts';
import { loopShape, type LoopInput } from './loop-schema.ts';
import type { LoadedLoop, SourceText } from './port.ts';
import { readLayer, type Layer } from './read-layer.ts';
import { rejectIf, resolveLoop } from './resolve-loop.ts';
import { readYaml } from './yaml-source.ts';

/** `gyre.yaml` as a layer of values. */
export const readShared = ({ file, text }: SourceText): Layer<GyreInput> =>
  readLayer<GyreInput>(readYaml({ file, text: text.replace(/^\uFEFF/, '') }), gyreShape);

export interface LoopText extends SourceText {
  readonly name: string;
  /** `gyre.yaml`, where there is one. */
  readonly shared?: SourceText | undefined;
}

/**
 * A loop from the text of its file and of `gyre.yaml`. Pure.
 * @throws Rejection with every issue of both texts at once
 */
export const loadLoopText = ({ name, file, text, shared }: LoopText): LoadedLoop => {
  const parts = splitLoopFile(file, text);
  const layer = shared === undefined ? undefined : readShared(shared);
  if (!('front' in parts)) {
    rejectIf(file, [parts, ...(layer?.issues ?? [])]);
    throw new Defect('A file without parts, or without text, was not refused.');
  }
  const loop = readLayer<LoopInput>(readYaml({ file, text: parts.front, linesBefore: parts.linesBeforeFront }), loopShape);
  const issues: Issue[] = [];
  if (parts.body === '')
    issues.push({
      origin: { file, line: parts.bodyLine, column: 1 },
      key: '',
      found: 'no text below the front matter',
      wanted: 'the instruction to the agent',
    });
  return resolveLoop({ name, loop, shared: layer, body: parts.body, bodyLine: parts.bodyLine, issues });
};
