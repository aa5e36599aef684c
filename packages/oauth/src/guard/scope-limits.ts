import type { HttpResponse } from '@tollgate/http'
import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import { isOAuthError, TemporarilyUnavailable } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { WILDCARD_SCOPE } from '../scopes.ts'
import { withHookTimeout } from '../users/hook-timeout.ts'

/** The party for whom a request is made, as passed to `limitsOf()`. */
export interface LimitedSubject {
  /**
   * Id of the user. With several user providers it has the form `provider/id`. `null` for a client
   * that acts for itself.
   */
  readonly userId: string | null
  /**
   * The `client_id` of the client that holds the token. `null` in cookie mode, where the user calls
   * without a client.
   */
  readonly clientId: string | null
}

/** Limits on what a user or client may do at present, beyond the scopes of the token. */
export interface ScopeLimits {
  /**
   * Whether the user or client may use the scope now. Called at every check of a scope that the
   * token has, except for the scopes of `openid()`, such as `email`. Return `true` for scopes that
   * you do not limit.
   */
  allows(scope: string): boolean
  /**
   * Builds the response to a request that needs these withheld scopes. Sent unchanged, so it should
   * have no `WWW-Authenticate` header: clients would ask the person for scopes that the token has.
   */
  refusal(scopes: readonly string[]): HttpResponse
}

/** Decides what users and clients may do at present. Registered with `oauth.limitScopes()`. */
export interface ScopeLimiter {
  /**
   * Returns the limits on a user or client, or `null` if there are none. Called for every guarded
   * request, so it should answer from memory: a promise delays the request, for at most two seconds.
   * If it throws an OAuthError, such as `TemporarilyUnavailable`, the request gets that error; any
   * other error is logged, and the request gets 503.
   */
  limitsOf(subject: LimitedSubject): Awaitable<ScopeLimits | null>
}

/**
 * Whether a caller may use a scope now: `granted`; `missing` if the token does not have it;
 * `withheld` if the token has it, but limits do not allow it.
 */
export type ScopeStatus = 'granted' | 'withheld' | 'missing'

/** The limiters that were registered with `oauth.limitScopes()`. */
export interface ScopeLimiters {
  /** Whether no limiter is registered. */
  readonly isEmpty: boolean
  /** Adds a limiter. Returns a function that removes it. */
  add(limiter: ScopeLimiter): () => void
  /**
   * Combines the limits of all limiters for a user or client: a scope has to be allowed by each of
   * them. `null` if there are no limits. Returns without a promise if no limiter returns one.
   */
  find(subject: LimitedSubject): Awaitable<ScopeLimits | null>
}

export function createScopeLimiters(logger: Required<Logger>): ScopeLimiters {
  let limiters: readonly { readonly limiter: ScopeLimiter }[] = []

  function refuse(thrown: unknown): never {
    if (isOAuthError(thrown)) throw thrown
    logger.error('limitsOf() failed, so the limits of a caller are unknown', thrown)
    throw new TemporarilyUnavailable('The limits of the caller could not be read', {
      cause: thrown,
    })
  }

  function ask(limiter: ScopeLimiter, subject: LimitedSubject): Awaitable<ScopeLimits | null> {
    let found: Awaitable<ScopeLimits | null>
    try {
      found = limiter.limitsOf(subject)
    } catch (error) {
      return refuse(error)
    }
    return found instanceof Promise
      ? withHookTimeout('limitsOf()', found).then(requireLimits, refuse)
      : requireLimits(found)
  }

  return {
    get isEmpty() {
      return limiters.length === 0
    },
    add(limiter) {
      if (typeof limiter?.limitsOf !== 'function') {
        throw new TypeError('limitScopes: give an object with the function limitsOf(subject).')
      }
      const added = { limiter }
      limiters = [...limiters, added]
      return () => {
        limiters = limiters.filter((each) => each !== added)
      }
    },
    find(subject) {
      const [first, ...others] = limiters
      if (!first) return null
      return others.reduce(
        (found, { limiter }) =>
          mapAwaitable(found, (limits) =>
            mapAwaitable(ask(limiter, subject), (more) => combineLimits(limits, more)),
          ),
        ask(first.limiter, subject),
      )
    },
  }
}

/** Rejects other values, because a limiter that forgets to return its limits would allow all. */
function requireLimits(found: ScopeLimits | null): ScopeLimits | null {
  if (found === null) return null
  if (typeof found?.allows === 'function' && typeof found.refusal === 'function') return found
  throw new TypeError('limitsOf() must return null, or limits with allows() and refusal().')
}

/** Allows what both allow. The refusal comes from the first that withholds one of the scopes. */
function combineLimits(first: ScopeLimits | null, second: ScopeLimits | null): ScopeLimits | null {
  if (first === null || second === null) return first ?? second
  return {
    allows: (scope) => first.allows(scope) && second.allows(scope),
    refusal(scopes) {
      const byFirst = scopes.filter((scope) => !first.allows(scope))
      return byFirst.length > 0 ? first.refusal(byFirst) : second.refusal(scopes)
    },
  }
}

/** The scopes of a server, by kind. */
interface KnownScopes {
  readonly scopeNames: ReadonlySet<string>
  readonly identityScopes: ReadonlySet<string>
}

/**
 * Whether limits withhold a scope that the token has. They never withhold scopes about the person:
 * signing in with OpenID Connect does not depend on limits.
 */
export function isWithheld(
  scope: string,
  limits: ScopeLimits,
  { identityScopes }: Pick<KnownScopes, 'identityScopes'>,
): boolean {
  return !limits.allows(scope) && !identityScopes.has(scope)
}

/**
 * The scopes of a token, in two lists: those that its user or client may use at present, and those
 * that limits withhold.
 */
export interface EffectiveAndWithheldScopes {
  readonly effective: readonly string[]
  readonly withheld: readonly string[]
}

/**
 * Splits the scopes of a token into those that the limits allow and those that they withhold. If
 * they withhold some of the scopes that `*` stands for, lists the defined scopes in place of `*`.
 */
export function splitWithheldScopes(
  scopes: readonly string[],
  limits: ScopeLimits | null,
  known: KnownScopes,
): EffectiveAndWithheldScopes {
  if (limits === null) return { effective: scopes, withheld: [] }
  const all = scopes.includes(WILDCARD_SCOPE) ? expandWildcard(scopes, known) : scopes
  const withheld = all.filter((name) => isWithheld(name, limits, known))
  if (withheld.length === 0) return { effective: scopes, withheld }
  return { effective: all.filter((name) => !withheld.includes(name)), withheld }
}

/** Replaces `*` by the defined scopes that it stands for. */
function expandWildcard(
  scopes: readonly string[],
  { scopeNames, identityScopes }: KnownScopes,
): readonly string[] {
  const named = scopes.filter((name) => name !== WILDCARD_SCOPE)
  const implied = [...scopeNames].filter((name) => !identityScopes.has(name))
  return [...new Set([...named, ...implied])]
}

/**
 * Marks the error of a scope check with the response to send. A symbol of the registry, because a
 * bundler may load this package twice: the check and the guard may be from different copies.
 */
const RESPONSE = Symbol.for('@tollgate/oauth/ScopesWithheld')

/** Thrown by a scope check if the token has the scopes, but limits withhold some of them. */
export class ScopesWithheld extends Error {
  readonly [RESPONSE]: HttpResponse

  constructor(response: HttpResponse) {
    super('The token has the scopes, but limits withhold them')
    this.name = 'ScopesWithheld'
    this[RESPONSE] = response
  }
}

/** Returns the response of a `ScopesWithheld`. `null` for any other value. */
export function findWithheldResponse(thrown: unknown): HttpResponse | null {
  if (typeof thrown !== 'object' || thrown === null || !(RESPONSE in thrown)) return null
  return thrown[RESPONSE] as HttpResponse
}
