// What starts a tick of a loop (`on:` of its file), every key resolved. What a trigger's windows are, and how each ends, is decided in
// schedule/.

/** What happens to a window that is due while a tick of the same loop runs. */
export type Overlap =
  /** It ends `skipped`. */
  | 'skip'
  /** It waits for the running tick; a newer one that has to wait takes its place. */
  | 'queue'
  /** The running tick is cancelled, and the window's tick starts when that one has ended. */
  | 'cancel-previous'
  /** Its tick runs beside the other. */
  | 'allow';

/** What happens to windows that passed while nothing looked (machine off, asleep, clock set ahead). */
export type CatchUp =
  /** All end `missed`. */
  | { readonly run: 'none' }
  /** The newest runs, the others end `missed`. */
  | { readonly run: 'once' }
  /** The newest `max` run one after another, the others end `missed`. */
  | { readonly run: 'all'; readonly max: number };

/** Of a trigger whose windows are known in advance. */
export interface TimePolicy {
  readonly overlap: Overlap;
  readonly catchUp: CatchUp;
  /** A window starts up to so much later than its instant, always the same for the same window. 0: on time. Less than the gap between windows. */
  readonly jitterMs: number;
  /** So many windows in a row without a tick raise an alarm. */
  readonly silentAfter: number;
}

export type TimeTrigger = { readonly id: TriggerId } & TimePolicy &
  (
    | { readonly on: 'schedule'; /** Five fields. */ readonly cron: string; /** IANA name. */ readonly timezone: string }
    /** Windows lie on multiples of the interval since 1970-01-01T00:00Z, so that no start-up moves them. */
    | { readonly on: 'every'; readonly everyMs: number }
  );

export type EventTrigger = { readonly id: TriggerId; readonly overlap: Overlap } & (
  | { readonly on: 'watch'; /** Relative to the loop's home folder. */ readonly globs: readonly string[] }
  | { readonly on: 'git'; readonly refs: GitRefs; readonly pollMs: number }
  | {
      readonly on: 'webhook';
      /** `github`: signature and names as GitHub sends them. `generic`: see docs/reference/triggers.md. */
      readonly sender: 'github' | 'generic';
      /** `undefined`: every event. */
      readonly event: string | undefined;
      /** The payload's `action`, of GitHub events that have one. `undefined`: every action. */
      readonly action: string | undefined;
      /** Name of the environment variable that holds the shared secret. */
      readonly secretVariable: string;
    }
  /** `exits` empty: whatever the exit. */
  | { readonly on: 'after'; readonly loop: string; readonly exits: readonly string[] }
);

/** Which refs; `pattern` is a name or a glob over short names (`main`, `release/*`, `v*`). */
export type GitRefs =
  | { readonly kind: 'branch' | 'tag'; readonly pattern: string }
  /** Branches of a remote: a configured name, a path or an address. */
  | { readonly kind: 'remote'; readonly remote: string; readonly pattern: string };

export type TriggerDefinition = { readonly on: 'manual'; readonly id: TriggerId } | TimeTrigger | EventTrigger;

/**
 * Names a trigger within its loop, made from what it waits for and not from its policies or its place in the list: editing a policy goes
 * on where the trigger was, editing a cron line begins a new trigger.
 */
export type TriggerId = string;

export const manualTrigger: TriggerDefinition = { on: 'manual', id: 'manual' };

export const isTimeTrigger = (trigger: TriggerDefinition): trigger is TimeTrigger => trigger.on === 'schedule' || trigger.on === 'every';

export const isEventTrigger = (trigger: TriggerDefinition): trigger is EventTrigger =>
  trigger.on === 'watch' || trigger.on === 'git' || trigger.on === 'webhook' || trigger.on === 'after';

/** FNV-1a, 32 bits, over UTF-16 units: short, pure and good enough to tell a handful of triggers apart or to spread a jitter. */
export const fnv1a = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
};

/**
 * `<kind>-<hash>` of what the trigger waits for.
 * @param content what sets this trigger apart from others of its kind, e.g. cron line and zone
 */
export const triggerId = (on: TriggerDefinition['on'], content: readonly (string | number | undefined)[]): TriggerId =>
  `${on}-${fnv1a(JSON.stringify(content)).toString(36).padStart(7, '0')}`;
