import { hasRole } from '../users/roles.ts'
import type { Actor } from './audit/caller.ts'
import { getOperationScope, IRREVERSIBLE_SCOPE, type Operation } from './operation.ts'
import { AdminProblem } from './problems.ts'

/**
 * Maximum age of a sign-in, in milliseconds, for acts that cannot be undone or that grant power.
 */
export const FRESH_SIGN_IN = 10 * 60_000

type Rule = Pick<Operation, 'name' | 'role' | 'effect' | 'grantsPower'>

/**
 * Checks that the actor may call the operation. Every call of an operation is checked here.
 * @throws AdminProblem `forbidden` or `fresh-sign-in-required`
 */
export function authorize(operation: Rule, actor: Actor, now: Date): void {
  if (actor.kind === 'command') return
  if (actor.kind === 'client') authorizeClient(operation, actor.scopes)
  else if (!hasRole(actor.role, operation.role)) {
    throw new AdminProblem(
      'forbidden',
      `${operation.name} needs the role ${operation.role}; yours is ${actor.role}.`,
    )
  } else if (needsFreshSignIn(operation) && !isFreshSignIn(actor.signedInAt, now)) {
    throw new AdminProblem(
      'fresh-sign-in-required',
      'This operation needs a sign-in within the last ten minutes. Sign in again and repeat it.',
    )
  }
}

/** Whether the operation requires that operators signed in recently. */
export function needsFreshSignIn({ effect, grantsPower = false }: Rule): boolean {
  return effect === 'irreversible' || grantsPower
}

/**
 * Whether a sign-in is at most `FRESH_SIGN_IN` old. A time in the future comes from a wrong clock
 * and counts as old.
 */
export function isFreshSignIn(signedInAt: Date, now: Date): boolean {
  const age = now.getTime() - signedInAt.getTime()
  return age >= 0 && age <= FRESH_SIGN_IN
}

function authorizeClient(operation: Rule, scopes: readonly string[]): void {
  if (operation.grantsPower) {
    throw new AdminProblem(
      'forbidden',
      `${operation.name} grants privileges: only a signed-in owner or the command line can do it.`,
    )
  }
  const needed = [
    getOperationScope(operation),
    ...(operation.effect === 'irreversible' ? [IRREVERSIBLE_SCOPE] : []),
  ]
  const missing = needed.find((scope) => !scopes.includes(scope))
  if (missing === undefined) return
  throw new AdminProblem('forbidden', `${operation.name} needs the scope ${missing}.`)
}
