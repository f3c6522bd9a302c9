// The scenarios that every agent is tried with. Each call costs `usualUsage`, so the true total is that times the number of calls.
import type { ScriptedFault, Scenarios, Step } from './scenario.ts';

const sumModule = 'export const sum = (a, b) => a + b;\n';

const failing = (fault: ScriptedFault, text = 'Answered after the fault.'): readonly Step[] => [{ faults: [fault], text }];

export const standardScenarios = {
  /** The common path in three calls: write a file with the agent's own tool, run the tests in its shell, say so. */
  fix: [
    { text: 'I will write the module.', ops: [{ op: 'write', path: 'sum.mjs', content: sumModule }] },
    { text: 'Now the tests.', ops: [{ op: 'bash', command: 'node --test' }] },
    { text: 'Done: sum.mjs is written and the tests pass.' },
  ],
  /** The same end by another way, in four calls: agents want a file read before they change it. */
  edit: [
    { ops: [{ op: 'read', path: 'sum.mjs' }] },
    { ops: [{ op: 'edit', path: 'sum.mjs', from: 'a - b', to: 'a + b' }] },
    { ops: [{ op: 'bash', command: 'node --test' }] },
    { text: 'Done: sum.mjs is corrected and the tests pass.' },
  ],
  /** An agent that says done and did nothing. */
  idle: [{ text: 'Done. Everything works.' }],
  /** A sub-agent of Claude Code does part of the work. */
  delegate: [
    {
      ops: [
        {
          op: 'tool',
          name: 'Task',
          input: { description: 'part of it', prompt: '[[s:delegated]] Do your part.', subagent_type: 'general-purpose' },
        },
      ],
    },
    { text: 'Done: the sub-agent did its part.' },
  ],
  delegated: [{ ops: [{ op: 'bash', command: 'echo sub > sub.txt' }] }, { text: 'My part is done.' }],
  /** A tool that does not end within any test. */
  'long-tool': [{ ops: [{ op: 'bash', command: 'echo started > started.txt; sleep 300' }] }, { text: 'The tool ended.' }],
  /** An agent that is never finished. */
  busy: Array.from({ length: 200 }, (_, i): Step => ({ ops: [{ op: 'bash', command: `echo ${i} >> busy.txt` }] })),
  'rate-limited': failing({ fault: 'status', status: 429, retryAfterS: 1, times: 2 }),
  'always-rate-limited': failing({ fault: 'status', status: 429, retryAfterS: 1, times: 'always' }),
  overloaded: failing({ fault: 'status', status: 529, times: 2 }),
  'server-error': failing({ fault: 'status', status: 500, times: 2 }),
  'bad-key': failing({ fault: 'status', status: 401, times: 'always' }),
  'no-credit': failing({ fault: 'status', status: 402, times: 'always' }),
  overflow: failing({ fault: 'overflow', times: 'always' }),
  dropped: failing({ fault: 'drop' }),
  'stream-error': failing({ fault: 'error-event' }),
  silent: failing({ fault: 'hang', at: 'start', times: 'always' }),
  stalled: failing({ fault: 'hang', at: 'middle', times: 'always' }),
  'broken-arguments': [
    { faults: [{ fault: 'broken-tool-json' }], ops: [{ op: 'bash', command: 'echo never' }] },
    { text: 'I saw the error.' },
  ],
  'cut-short': [{ text: 'This answer is cut', stop: 'length' }],
  refusal: [{ text: 'I cannot help with that.', stop: 'refusal' }],
} satisfies Scenarios;
