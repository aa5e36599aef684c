import { hasRole } from '../users/roles.ts'
import type { Actor } from './audit/caller.ts'
import { IRREVERSIBLE, type Operation, scopeOf } from './operation.ts'
import { AdminProblem } from './problems.ts'

/** How old a sign-in may be for acts that cannot be undone or grant power, in milliseconds. */
export const FRESH_SIGN_IN = 10 * 60_000

type Rule = Pick<Operation, 'name' | 'role' | 'effect' | 'grantsPower'>

/**
 * Decides whether the actor may call the operation. The only place where this is decided.
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
  } else if (needsFreshSignIn(operation) && !isFresh(actor.signedInAt, now)) {
    throw new AdminProblem(
      'fresh-sign-in-required',
      'This needs a sign-in of the last ten minutes. Sign in again and repeat it.',
    )
  }
}

/** Whether operators must have signed in shortly before. */
export function needsFreshSignIn({ effect, grantsPower = false }: Rule): boolean {
  return effect === 'irreversible' || grantsPower
}

/** A sign-in in the future comes from a wrong clock and counts as old. */
export function isFresh(signedInAt: Date, now: Date): boolean {
  const age = now.getTime() - signedInAt.getTime()
  return age >= 0 && age <= FRESH_SIGN_IN
}

function authorizeClient(operation: Rule, scopes: readonly string[]): void {
  if (operation.grantsPower) {
    throw new AdminProblem(
      'forbidden',
      `${operation.name} grants power over the service: only a signed-in owner or a command can do it.`,
    )
  }
  const needed = [
    scopeOf(operation),
    ...(operation.effect === 'irreversible' ? [IRREVERSIBLE] : []),
  ]
  const missing = needed.find((scope) => !scopes.includes(scope))
  if (missing === undefined) return
  throw new AdminProblem('forbidden', `${operation.name} needs the scope ${missing}.`)
}
