/** Thrown into a handler whose run was asked to end. A handler that lets it through, or throws one itself, ends its run `cancelled`. */
export class CancelledError extends Error {
  readonly code = 'CANCELLED';

  constructor(reason: string) {
    super(reason);
    this.name = 'CancelledError';
  }
}
