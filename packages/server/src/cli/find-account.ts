import type { UserAccounts } from '../users/users.ts'
import { UsageError } from './command.ts'

/** What the commands about one account take. */
export const ACCOUNT = { name: 'user', description: 'the id or the e-mail address' }

export async function requireAccount(users: UserAccounts, text: string) {
  const account = await users.findAccount(text)
  if (account) return account
  throw new UsageError(
    `There is no user ${JSON.stringify(text)}: give an id or an e-mail address that \`tollgate user list\` shows`,
  )
}
