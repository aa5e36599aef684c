import type { LimitedSubject, ScopeLimiter, ScopeLimits } from '../../src/index.ts'
import type { TestServer } from '../support.ts'

export const PROBLEM = 'application/problem+json'

/** Limits that withhold these scopes, with a refusal as the gate of a plan sends it. */
export const withholding = (...scopes: readonly string[]): ScopeLimits => ({
  allows: (scope) => !scopes.includes(scope),
  refusal: (named) => ({
    status: 402,
    headers: { 'content-type': PROBLEM, 'cache-control': 'no-store' },
    body: JSON.stringify({ title: 'Not in your plan', scopes: named }),
  }),
})

/** A limiter that withholds the same scopes from everyone, and records whom it was asked about. */
export class Plan implements ScopeLimiter {
  readonly asked: LimitedSubject[] = []
  readonly #limits: ScopeLimits

  constructor(...scopes: readonly string[]) {
    this.#limits = withholding(...scopes)
  }

  limitsOf(subject: LimitedSubject): ScopeLimits {
    this.asked.push(subject)
    return this.#limits
  }
}

/** Runs `work` while the limiter is registered. */
export async function whileLimited<T>(
  { oauth }: Pick<TestServer, 'oauth'>,
  limiter: ScopeLimiter,
  work: () => Promise<T>,
): Promise<T> {
  const remove = oauth.limitScopes(limiter)
  try {
    return await work()
  } finally {
    remove()
  }
}
