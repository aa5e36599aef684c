import { defineError } from '../service-error.ts'
import type { ServiceDatabase } from '../storage/tables.ts'

/**
 * Thrown if the sign-ins of the account were ended after a request began, for example by a new
 * password. The request has changed nothing.
 */
export class SignInEnded extends defineError('conflict', 'You have been signed out meanwhile') {}

/**
 * Checks that the proof of a sign-in still holds, such as the password that was typed. Called while
 * the account is locked, in the transaction of the change.
 */
export type StillHolds = () => Promise<boolean>

/**
 * Runs `change` in one transaction that locks the account, if `stillHolds` returns `true` in it. A
 * new password writes the same row before it ends the sign-ins of the account. So either it ends
 * what `change` stores, too, or `stillHolds` sees it (threat Q11). The lock is a write, because the
 * servers of a cluster compare only the rows that were written.
 * @throws SignInEnded if the proof does not hold any more, or the account is gone.
 */
export async function changeWhile<T>(
  { database, userId }: { readonly database: ServiceDatabase; readonly userId: string },
  stillHolds: StillHolds,
  change: () => Promise<T>,
): Promise<T> {
  return database.unitOfWork(async () => {
    const { numUpdatedRows } = await database.kysely
      .updateTable('users')
      .set((eb) => ({ turns: eb('turns', '+', 1) }))
      .where('id', '=', Number(userId))
      .executeTakeFirst()
    if (numUpdatedRows === 0n || !(await stillHolds())) throw new SignInEnded()
    return change()
  })
}
