import type { Account } from '../users/user.ts'
import type { UserAccounts } from '../users/users.ts'
import type { OpenOperations } from './open-operations.ts'
import { UsageError } from './usage-error.ts'

/**
 * Finds the account of the service by id or e-mail address.
 * @throws UsageError
 */
export async function requireAccount(
  users: Pick<UserAccounts, 'findAccount'>,
  [named = '']: readonly string[],
): Promise<Account> {
  const account = await users.findAccount(named)
  if (account) return account
  throw new UsageError(
    `There is no user ${JSON.stringify(named)}: give an id or an e-mail address that \`tollgate user list\` shows`,
  )
}

/**
 * Returns the id of the person whom an argument names by id or e-mail address. The users of an
 * application are unknown here: the argument is their id.
 */
export async function requireUserId(
  { users, found }: Pick<OpenOperations, 'users' | 'found'>,
  idOrEmail: string,
): Promise<string> {
  return found === 'application' ? idOrEmail : (await requireAccount(users, [idOrEmail])).id
}
