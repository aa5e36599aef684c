import { isOAuthError } from '@tollgate/oauth'
import { UsageError } from '../../command.ts'

/** What was asked of a client; one that is not there, or not of that kind, is said by what was typed. */
export async function orNoClient<T>(id: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!isOAuthError(error, 'not_found')) throw error
    const message = `"${id}": ${error.message} \`tollgate client list\` shows those there are`
    throw new UsageError(message, { cause: error })
  }
}
