import { assertAnyScope, assertScopes, type Caller, type Guard } from '../guard/guard.ts'
import type { StepUpDemand } from '../guard/step-up.ts'

/** Checks of the authenticated caller of a route, to be used after `auth`. */
export interface ScopeChecks<Middleware> {
  /**
   * Requires all of these scopes. Use it after `auth`. Other callers get 403. If the token has the
   * scopes but `oauth.limitScopes()` withholds one, they get the response of the limits, such as 402.
   * @example
   * ```ts
   * app.post('/orders', auth('api'), scopes('place-orders', 'read-menu'), placeOrder)
   * ```
   */
  scopes(...names: string[]): Middleware
  /**
   * Requires at least one of these scopes. Use it after `auth`. Other callers get 403. If
   * `oauth.limitScopes()` withholds those that the token has, they get the response of the limits.
   */
  scope(...names: string[]): Middleware
  /**
   * Requires a sign-in that is recent or strong enough (RFC 9470). Use it after `auth`. Needs the
   * feature `stepUp()`.
   * @example
   * ```ts
   * app.delete('/account', auth('api'), stepUp({ maxAge: '15m' }), deleteAccount)
   * ```
   */
  stepUp(demand: StepUpDemand): Middleware
}

/**
 * Builds the checks `scopes`, `scope` and `stepUp` for one web framework. `run` turns a check of
 * the caller into middleware of that framework.
 */
export function createScopeChecks<Middleware>(
  guard: Pick<Guard, 'stepUp'>,
  run: (assert: (caller: Caller) => void) => Middleware,
): ScopeChecks<Middleware> {
  return {
    scopes: (...names) => run((caller) => assertScopes(caller, names)),
    scope: (...names) => run((caller) => assertAnyScope(caller, names)),
    stepUp: (demand) => run(guard.stepUp(demand)),
  }
}

/**
 * Returns the authenticated caller that the `auth` middleware has set.
 * @throws Error if a check runs before `auth`, which is a mistake in the application
 */
export function requireCaller(caller: Caller | undefined): Caller {
  if (caller) return caller
  throw new Error("Use scopes(), scope() and stepUp() after auth('api') or auth('client')")
}
