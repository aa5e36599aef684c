import type { HttpResponse } from '@tollgate/http'
import type { Clock } from '../context.ts'
import { formatSubject, type Subject } from '../subject.ts'
import { buildRefusal } from '../verdict.ts'
import type { Entitlement, Entitlements } from './entitlements.ts'

/** The user or client behind a request, as `@tollgate/oauth` describes it. */
export interface GateCaller {
  /** Id of the user. `null` for a client that acts for itself. */
  readonly userId: string | null
  /** The `client_id`. `null` in cookie mode. */
  readonly clientId: string | null
}

/** What a plan withholds from tokens. */
interface PlanLimits {
  allows(scope: string): boolean
  refusal(scopes: readonly string[]): HttpResponse
}

/** The authorization server whose tokens obey the plans. `createAuthorizationServer()` returns one. */
export interface GateOAuth {
  /** The scopes of the server, by name. */
  readonly scopes: Readonly<Record<string, string>>
  /** Registers what limits the scopes of tokens. Returns a function that removes it. */
  limitScopes(limiter: {
    limitsOf(caller: GateCaller): PlanLimits | null | Promise<PlanLimits | null>
  }): () => void
}

/** Returns the subject of a caller: the user, or the client that acts for itself. */
export function toSubject({ userId, clientId }: GateCaller): Subject {
  if (userId !== null) return { type: 'user', id: userId }
  return { type: 'client', id: clientId ?? '' }
}

interface LimiterParts {
  readonly entitlements: Entitlements
  readonly clock: Clock
  readonly upgradeUrl: string | null
  readonly subjectOf: (caller: GateCaller) => Subject
  /** Calls the function once the gate is ready, immediately if it is. */
  whenReady<R>(work: () => R | Promise<R>): R | Promise<R>
}

/** Lets the tokens of the server do only what the plan of their subject allows at the moment. */
export function limitScopesByPlan(oauth: GateOAuth, parts: LimiterParts): () => void {
  const { entitlements, clock, upgradeUrl } = parts

  function toLimits({ plan, terms: { scopes } }: Entitlement): PlanLimits | null {
    if (scopes === null) return null
    return {
      allows: (scope) => scopes.has(scope),
      refusal: (missing) =>
        buildRefusal({ reason: 'scope_not_in_plan', plan, missing, upgradeUrl }, clock.now()),
    }
  }

  return oauth.limitScopes({
    limitsOf: (caller) =>
      parts.whenReady(() => {
        const subject = parts.subjectOf(caller)
        const found = entitlements.of(formatSubject(subject), subject)
        return found instanceof Promise ? found.then(toLimits) : toLimits(found)
      }),
  })
}
