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
Exit codes: 0 goal met or nothing to do, 2 bad usage or configuration, 3 parked (a person is needed), 4 stopped (a limit), 5 fault, 6 a daemon that was
at work had to stop.`,
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
    .option('--now', 'also when the provider said that it does not serve yet')
    .addOption(json())
    .action(async (run, options) => (await import('./commands/retry.ts')).retry(run, options));

  program
    .command('up')
    .description('start the daemon: it runs the loops of this repository by their triggers until it is told to end')
    .option('--foreground', 'stay in this terminal (for containers and service managers)')
    .option('--drain <policy>', 'what SIGTERM means for work in progress: finish, checkpoint or park')
    .option('--time <duration>', 'most time that finish may take')
    .addOption(json())
    .action(async (options) => (await import('./commands/up.ts')).up(options));

  program
    .command('down')
    .description('end the daemon; what is recorded stays, and the next one goes on')
    .option(
      '--drain <policy>',
      'finish: runs go on to their end; checkpoint: agents go on, the next daemon adopts them; park: agents end, work is kept',
    )
    .option('--time <duration>', 'most time that finish may take')
    .option('--kill', 'end a daemon that does not answer')
    .addOption(json())
    .action(async (options) => (await import('./commands/down.ts')).down(options));

  program
    .command('restart')
    .description('end the daemon and start it again; agents go on meanwhile and are adopted')
    .option('--drain <policy>', 'as for down; checkpoint when not given')
    .option('--time <duration>', 'most time that finish may take')
    .addOption(json())
    .action(async (options) => (await import('./commands/restart.ts')).restart(options));

  program
    .command('schedule')
    .description('what fired, what did not and why, and what comes next')
    .argument('[loop]', 'only this loop')
    .option('--last <n>', 'past windows to show', '5')
    .option('--next <n>', 'coming windows to show', '3')
    .addOption(json())
    .action(async (loop, options) => (await import('./commands/schedule.ts')).schedule(loop, options));

  const service = program.command('service').description('let the system start the daemon: systemd or launchd');
  const system = (): Option => new Option('--system', 'for the whole machine instead of this user');
  service
    .command('install')
    .description('write the unit or property list')
    .addOption(system())
    .option('--print', 'print it instead of writing it')
    .addOption(json())
    .action(async (options) => (await import('./commands/service.ts')).installService(options));
  service
    .command('remove')
    .description('remove it')
    .addOption(system())
    .addOption(json())
    .action(async (options) => (await import('./commands/service.ts')).removeService(options));

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
