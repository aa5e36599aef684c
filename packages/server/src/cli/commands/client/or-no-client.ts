import { isOAuthError } from '@tollgate/oauth'
import { UsageError } from '../../command.ts'

/** What was asked of a client; a client that is not there is said by what was typed. */
export async function orNoClient<T>(id: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!isOAuthError(error, 'not_found')) throw error
    const message = `There is no client "${id}": give an id that \`tollgate client list\` shows`
    throw new UsageError(message, { cause: error })
  }
}
