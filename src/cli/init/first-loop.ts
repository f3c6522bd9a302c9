/** The first loop file, in report mode. Every value is quoted as JSON, which is YAML too, so no command can break the file. */
export const firstLoop = ({
  test,
  setup,
  agent,
}: {
  readonly test: string;
  readonly setup: string | undefined;
  readonly agent: string;
}): string =>
  `---
description: Repair the tests that fail
discover:
  - tests: ${JSON.stringify(test)}
goal: The failing test passes and no other test fails
agent: ${JSON.stringify(agent)}
${setup === undefined ? '' : `workspace: { setup: ${JSON.stringify(setup)} }\n`}verify:
  - run: ${JSON.stringify(test)}
stop: { attempts: 4, no-progress: 2, time: 45m }
# report: verify and keep, land nothing. Then: patch, branch, merge.
land: { as: report }
---
{{ task.title }}

Find the cause in the source code and repair it there. The test is right unless the code base says otherwise.

{{ task.evidence }}
`;
