import { decideVerdict } from '../core/decide-verdict.ts';
import type { CheckDefinition } from '../core/loop-definition.ts';
import { slug } from '../core/text.ts';
import type { CheckOnCandidate, GateFile, VerdictRecord } from '../core/verdict.ts';
import { canonicalJson } from './canonical-json.ts';
import { hashOf } from './evidence-store.ts';
import { guardDiff, guardGates } from './guards.ts';
import { planPin, rememberReads, type PinPlan } from './pin-plan.ts';
import type { CheckRunner, EvidenceStore, ReadFileAt, Verifier, VerifyRequest } from './port.ts';

/** Time limit of the task's own command when no check of the loop gives a longer one. */
const proofTimeoutMs = 600_000;

export interface VerifierParts {
  readonly checks: CheckRunner;
  readonly evidence: EvidenceStore;
  readonly readFileAt: ReadFileAt;
  /** Times a check is run on base, so that what is sometimes red there is known. Default 2; paid once a commit. */
  readonly baselineRuns?: number;
  /** Versions of what runs the checks, for the record. */
  readonly tools?: Readonly<Record<string, string>>;
}

/** The loop's checks, and the task's own command where it is none of them: with that one unseen, nothing would prove the task. */
const withProof = ({ checks, task }: VerifyRequest): readonly CheckDefinition[] => {
  const { proof } = task;
  if (proof.by === 'checks' || checks.some((check) => check.command === proof.command)) return checks;
  const timeoutMs = Math.max(proofTimeoutMs, ...checks.map((check) => check.timeoutMs));
  return [{ name: 'task', command: proof.command, timeoutMs, env: {}, report: { format: undefined, file: undefined } }, ...checks];
};

const notesOf = ({ candidate }: VerifyRequest): readonly string[] => [
  ...candidate.leftOut.map(({ path, why }) => `Left out of the candidate: ${JSON.stringify(path)} (${why}).`),
  ...candidate.notes,
];

const textHash = (text: string | undefined): string | null => (text === undefined ? null : hashOf(text));

interface GateFileRequest {
  readonly file: string;
  readonly candidate: VerifyRequest['candidate'];
  readonly read: ReadFileAt;
}

const gateFileOf = async ({ file, candidate, read }: GateFileRequest): Promise<GateFile> => ({
  path: file,
  base: textHash(await read(candidate.base, file)),
  candidate: textHash(await read(candidate.commit, file)),
});

/** Makes the verifier: runs every check on base and candidate, decides, and files the record as evidence. */
export const createVerifier = ({ checks: runner, evidence, readFileAt, baselineRuns = 2, tools = {} }: VerifierParts): Verifier => {
  const observeCheck = async (
    request: VerifyRequest,
    check: CheckDefinition,
    place: { key: string; plan: PinPlan },
  ): Promise<CheckOnCandidate> => {
    const { candidate, process: run, prefix, setup, setupTimeoutMs, share = [], signal } = request;
    const { key, plan } = place;
    const shared = { check, prefix, setup, setupTimeoutMs, share, run };
    const base = await runner.baseline({ ...shared, key: `${key}/base`, commit: candidate.base, times: baselineRuns });
    signal.throwIfAborted();
    const [onBase] = base.runs;
    // Nothing changed: what base says is what the candidate says.
    const isSame = candidate.changed.length === 0 && onBase !== undefined;
    const observed = isSame
      ? onBase
      : await runner.observe({ ...shared, key: `${key}/candidate`, commit: candidate.commit, pin: undefined });
    signal.throwIfAborted();
    const pinned =
      plan.pin === undefined
        ? undefined
        : await runner.observe({ ...shared, key: `${key}/pinned`, commit: candidate.commit, pin: plan.pin });
    signal.throwIfAborted();
    const pinnedFiles = plan.pin === undefined ? [] : [...plan.pin.paths, ...plan.pin.patches.map((patch) => patch.path)].toSorted();
    return { name: check.name, command: check.command, base, candidate: observed, pinned, pinnedFiles };
  };

  return {
    async verify(request) {
      const { attempt, candidate, findings, prefix, protect, run, signal, task } = request;
      const read = rememberReads(readFileAt);
      const observed: CheckOnCandidate[] = [];
      const gates = new Set<string>();
      for (const [index, check] of withProof(request).entries()) {
        signal.throwIfAborted();
        const plan = await planPin({ candidate, command: check.command, prefix, proof: task.proof, read });
        for (const file of plan.gates) gates.add(file);
        const key = `verify/a${attempt}/${index + 1}-${slug(check.name, 24)}`;
        observed.push(await observeCheck(request, check, { key, plan }));
      }
      const gatePaths = [...gates].toSorted();
      const guards = [...guardDiff(candidate, protect), ...guardGates(gatePaths), ...findings];
      const gateFiles: GateFile[] = [];
      for (const file of gatePaths) gateFiles.push(await gateFileOf({ file, candidate, read }));
      const record: VerdictRecord = {
        format: 'gyre.verdict/1',
        run,
        attempt,
        task: task.key,
        base: candidate.base,
        candidate: candidate.commit,
        tree: candidate.tree,
        guards,
        gateFiles,
        checks: observed,
        tools,
        verdict: decideVerdict({ proof: task.proof, guards, checks: observed, notes: notesOf(request) }),
      };
      return { record, evidence: await evidence.put(canonicalJson(record)) };
    },
  };
};
