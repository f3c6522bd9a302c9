// The command line's words. Each command's code is loaded when it is called, so that `--help` and `status` start fast.
import { Command, Option } from 'commander';
import { version } from './version.ts';

const json = (): Option => new Option('--json', 'print one JSON document instead of text');

export const buildProgram = (): Command => {
  const program = new Command('gyre')
    .description('Finds work in a repository, hands it to a coding agent, judges the result independently, lands what passes.')
    .version(version)
    .exitOverride()
    .showSuggestionAfterError(true)
    .addHelpText(
      'after',
      `
Exit codes: 0 goal met or nothing to do, 2 bad usage or configuration, 3 parked (a person is needed), 4 stopped (a limit), 5 fault.`,
    );

  program
    .command('init')
    .description('detect the test command and installed agents, and write a first loop in report mode')
    .option('--loop <name>', 'name of the loop file', 'fix-tests')
    .option('--agent <name>', 'agent to write into the loop instead of the detected one')
    .option('--test <command>', 'test command to write into the loop instead of the detected one')
    .addOption(json())
    .action(async (options) => (await import('./commands/init.ts')).init(options));

  program
    .command('run')
    .description('run a loop once: discover, attempt, verify, land')
    .argument('[loop]', 'name of the loop; may be left out when there is only one')
    .option('--once', 'one tick and end (the default)')
    .option('--dry-run', 'only say what would be run: no agent, no workspace')
    .option('--report', 'land nothing, whatever the loop says: keep and report')
    .option('--agent <name>', 'use this agent instead of the one the loop names')
    .addOption(json())
    .action(async (loop, options) => void (await (await import('./commands/run.ts')).run(loop, options)));

  program
    .command('goal')
    .description('one task until its condition is verified')
    .argument('<condition>', 'what is to be true, in words for the agent')
    .requiredOption('--check <command>', 'command that is red now and green when the condition holds')
    .option('--agent <name>', 'agent (default: the one gyre.yaml names, else claude)')
    .option('--agent-command <command>', 'run this program as the agent')
    .option('--land <how>', 'report, patch, branch, pull-request or merge', 'branch')
    .option('--target <branch>', 'branch to start from and, with merge, to land on')
    .option('--attempts <n>', 'most attempts')
    .option('--setup <command>', 'command that prepares a fresh checkout')
    .addOption(json())
    .action(async (condition, options) => (await import('./commands/goal.ts')).goal(condition, options));

  program
    .command('status')
    .description('what is open, what ended, and why')
    .option('--all', 'every run, not only the newest 20')
    .addOption(json())
    .action(async (options) => (await import('./commands/status.ts')).status(options));

  program
    .command('show')
    .description('one run: attempts, verdicts, landing, evidence')
    .argument('<run>', 'run id or its unique beginning')
    .option('--evidence', 'print the verdict records in full')
    .addOption(json())
    .action(async (run, options) => (await import('./commands/show.ts')).show(run, options));

  program
    .command('logs')
    .description("an agent's own output, as it was kept")
    .argument('<run>', 'run id or its unique beginning')
    .option('-f, --follow', 'go on until the agent ends')
    .option('--attempt <n>', 'attempt number (default: the last)')
    .option('--stderr', 'the error stream instead')
    .addOption(json())
    .action(async (run, options) => (await import('./commands/logs.ts')).logs(run, options));

  program
    .command('diff')
    .description('what the last attempt changed against its base')
    .argument('<run>', 'run id or its unique beginning')
    .option('--attempt <n>', 'attempt number (default: the last)')
    .addOption(json())
    .action(async (run, options) => (await import('./commands/diff.ts')).diff(run, options));

  program
    .command('stop')
    .description('cancel an open run: its agent is ended, its work is kept')
    .argument('<run>', 'run id or its unique beginning')
    .addOption(json())
    .action(async (run, options) => (await import('./commands/stop.ts')).stop(run, options));

  program
    .command('retry')
    .description('go on with a run that ended without its goal, under the limits the loop has now')
    .argument('<run>', 'run id or its unique beginning')
    .option('--attempts <n>', 'most attempts of the run, the used ones counted')
    .option('--agent <name>', 'use this agent from now on')
    .addOption(json())
    .action(async (run, options) => (await import('./commands/retry.ts')).retry(run, options));

  program
    .command('workspaces')
    .description('list the worktrees Gyre keeps and what they hold')
    .option('--prune', 'remove those that hold nothing unlanded')
    .option('--free <run...>', 'remove these by name; work in them is saved under refs/gyre/saved first')
    .addOption(json())
    .action(async (options) => (await import('./commands/workspaces.ts')).workspaces(options));

  program
    .command('doctor')
    .description('check this machine and repository for what Gyre needs')
    .addOption(json())
    .action(async (options) => (await import('./commands/doctor.ts')).doctor(options));

  program
    .command('config')
    .description('show a loop with every value resolved')
    .argument('[loop]', 'name of the loop; all when left out')
    .option('--origin', 'say where each value came from')
    .option('--schema <which>', 'print the JSON Schema of `loop` or `gyre`')
    .addOption(json())
    .action(async (loop, options) => (await import('./commands/config.ts')).config(loop, options));

  const journal = program.command('journal').description('the append-only record of everything');
  journal
    .command('export')
    .description('every fact as JSON Lines')
    .option('--run <run>', 'only this run')
    .action(async (options) => (await import('./commands/journal.ts')).exportJournal(options));
  journal
    .command('verify')
    .description('check the hash chain from first to last fact')
    .addOption(json())
    .action(async (options) => (await import('./commands/journal.ts')).verifyJournal(options));

  program
    .command('demo')
    .description('make a sample repository with three failing tests and watch a loop repair what can be repaired')
    .option('--agent <name>', 'let a real agent do it, e.g. claude (default: a script, no model)')
    .option('--keep', 'keep the sample repository')
    .addOption(json())
    .action(async (options) => (await import('./commands/demo.ts')).demo(options));

  return program;
};
