/** The kinds of errors of the management API (RFC 9457), each with its status and title. */
export const PROBLEMS = {
  'invalid-request': { status: 400, title: 'The request cannot be read' },
  'invalid-cursor': { status: 400, title: 'The cursor is not valid for this list' },
  unauthenticated: { status: 401, title: 'No valid credentials were sent' },
  forbidden: { status: 403, title: 'The caller may not do this' },
  'fresh-sign-in-required': { status: 403, title: 'The sign-in is too old for this' },
  'not-found': { status: 404, title: 'There is no such object' },
  'method-not-allowed': { status: 405, title: 'The path does not support this method' },
  conflict: { status: 409, title: 'The current state does not allow this' },
  'decision-required': { status: 409, title: 'A decision is required' },
  'request-in-progress': { status: 409, title: 'The first request with this key is still running' },
  'outcome-unknown': {
    status: 409,
    title: 'The request was interrupted, and its outcome is unknown',
  },
  stale: { status: 412, title: 'The object has changed since it was read' },
  'too-large': { status: 413, title: 'The request is too large' },
  'unsupported-media-type': { status: 415, title: 'The body must be JSON' },
  'invalid-input': { status: 422, title: 'Some fields are missing, unknown or invalid' },
  'key-reused': { status: 422, title: 'The idempotency key belongs to another request' },
  'precondition-required': { status: 428, title: 'A required header is missing' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'provider-refused': { status: 422, title: 'The payment provider rejected the request' },
  'provider-unavailable': { status: 502, title: 'The payment provider did not answer' },
  unavailable: { status: 503, title: 'The service is temporarily unavailable' },
  unexpected: { status: 500, title: 'An unexpected error occurred' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>

/** Name of a kind of error, the last part of its `type`. */
export type ProblemName = keyof typeof PROBLEMS

/** Base class of errors that a request of a person or a program can cause. */
export abstract class ServiceError extends Error {
  /** The kind of the error, which decides the status of the response. */
  abstract readonly problem: ProblemName

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }

  get status(): number {
    return PROBLEMS[this.problem].status
  }
}

/** Creates a base class for errors of this kind. `text` is the default message. */
export function defineError<Name extends ProblemName>(problem: Name, text = '') {
  abstract class KnownError extends ServiceError {
    override readonly problem: ProblemName = problem

    constructor(message = text, options?: ErrorOptions) {
      super(message, options)
    }
  }
  return KnownError
}
