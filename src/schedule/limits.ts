// The bounds of this folder, each with its unit last.

/** Longest single wait of a timer. A suspended machine's timers stand still and Node's overflow at 24.8 days; so often is the clock looked at. */
export const timerSliceMs = 30_000;
/** How late a window may be noticed and still count as on time. Later ones are missed windows, for which `catch-up` decides. */
export const onTimeMs = 60_000;
/** A running tick that a window waits for is looked at so often, should nobody say that it ended. */
export const waitingPollMs = 2_000;
/** Ends kept of one trigger; older records go, the facts stay in the journal. */
export const recordsKeptCount = 500;
/** Windows walked through one by one before a stretch is counted by days. */
export const walkedCount = 400;
/** Longest stretch whose windows are counted; a clock that was wrong by more is reported from there on. */
export const stretchMsMax = 20 * 366 * 86_400_000;
/** Events of one trigger that wait to be decided. Above it a webhook is answered 503 and nothing is taken. */
export const inboxCount = 100;
/** Refs of one git trigger. */
export const refsCount = 2_000;
/** One call of git. */
export const gitMs = 30_000;
export const gitOutputBytes = 8 * 1024 * 1024;
/** Body of one webhook. */
export const bodyBytes = 1024 * 1024;
/** Age at which a signed timestamp of a generic webhook is refused, into the past and into the future. */
export const signatureAgeMs = 5 * 60_000;
/** How long a delivery id is remembered. GitHub allows redelivery for three days. */
export const deliveryAgeMs = 7 * 86_400_000;
/** Delivery ids remembered of one trigger; the oldest goes first. */
export const deliveriesCount = 10_000;
/** Files of one watch trigger, and the size above which time and size stand for the content. */
export const watchedFilesCount = 20_000;
export const watchedFileBytes = 8 * 1024 * 1024;
/** Folders with a file-system watch; above it only the slow look notices changes. */
export const watchedFoldersCount = 2_000;
/** Quiet time after a change before the files are looked at. */
export const debounceMs = 300;
/** Net under the file-system hints. */
export const slowLookMs = 30_000;
