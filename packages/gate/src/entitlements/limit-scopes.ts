import type { Clock } from '../context.ts'
import type { GateCaller, GateOAuth, PlanLimits } from '../sources.ts'
import { formatSubject, type Subject } from '../subject.ts'
import { buildRefusal } from '../verdict.ts'
import type { Entitlement, Entitlements } from './entitlements.ts'

interface LimiterParts {
  readonly entitlements: Entitlements
  readonly clock: Clock
  readonly upgradeUrl: string | null
  readonly subjectOf: (caller: GateCaller) => Subject
  /** Calls the function once the gate is ready, immediately if it is. */
  whenReady<R>(work: () => R | Promise<R>): R | Promise<R>
}

/**
 * Restricts the tokens of an authorization server to the scopes that the subject's current plan
 * allows. Returns a function that removes the restriction.
 */
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
