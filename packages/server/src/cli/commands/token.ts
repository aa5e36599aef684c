import type { TokenJson } from '../../admin/operations/access.ts'
import { AdminProblem } from '../../admin/problems.ts'
import { withProgress } from '../../progress.ts'
import { type Commands, command } from '../command.ts'
import { formatCount } from '../count.ts'
import { ALSO_IN_APPLICATIONS } from '../open.ts'
import { withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { requireUserId } from '../person.ts'
import { formatTable } from '../table.ts'
import { UsageError } from '../usage-error.ts'

const LARGEST_PAGE = 1000

type ListedToken = TokenJson & { readonly user_id: string | null }

export const tokenCommands: Commands = {
  'token list': command({
    summary: 'list the valid access tokens, newest first, without their text',
    withConfig: true,
    options: {
      user: option.text('<user>', 'only those of this person: the id or the e-mail address'),
      client: option.text('<id>', 'only those of this application'),
      limit: option.count('<number>', 'number of tokens (default 50)', LARGEST_PAGE),
      after: option.text('<id>', 'continue after this token, the last of the previous page'),
    },
    run: ({ options: { user, client, limit, after } }, context) =>
      withOperations(context, { ...ALSO_IN_APPLICATIONS, onlyReads: true }, async (opened) => {
        const { data, next } = await opened.perform<{ data: ListedToken[]; next: string | null }>(
          'clients.listTokens',
          {
            ...(user !== null && { user_id: await requireUserId(opened, user) }),
            ...(client !== null && { client_id: client }),
            ...(limit !== null && { limit }),
            ...(after !== null && { after }),
          },
        )
        if (next !== null) context.hint(`There are more tokens: add --after ${next}`)
        const lines = data.map((token) => [
          token.id,
          token.user_id ?? '-',
          token.client_id,
          token.scopes.join(' '),
          token.expires_at.slice(0, 10),
          describeUse(token),
          token.name ?? '',
        ])
        const headers = ['ID', 'USER', 'CLIENT', 'SCOPES', 'EXPIRES', 'LAST USED', 'NAME']
        return { json: data, text: formatTable(headers, lines, 'There are no valid tokens') }
      }),
  }),
  'token revoke': command({
    summary: 'revoke one token by its id, or all tokens of a person, on every process in a second',
    withConfig: true,
    options: {
      id: option.text('<id>', 'id from `tollgate token list`, not the token itself'),
      user: option.text('<user>', 'all tokens of this person: the id or the e-mail address'),
    },
    run({ options: { id, user } }, context) {
      if ((id === null) === (user === null)) throw new UsageError('Give either --id or --user')
      return withOperations(context, ALSO_IN_APPLICATIONS, async (opened) => {
        if (user !== null) {
          const userId = await requireUserId(opened, user)
          await opened.perform('clients.revokeTokensOf', { user_id: userId })
          const text = `Revoked all tokens of the user ${userId}`
          return { json: { user_id: userId, revoked: true }, text }
        }
        await orUnknownToken(opened.perform('clients.revokeToken', { id }))
        const text = `Revoked the token ${id} with its refresh token`
        return { json: { id, revoked: true }, text }
      })
    },
  }),
  'token purge': command({
    summary: 'delete the rows of expired tokens, refresh tokens and codes',
    withConfig: true,
    run: (_input, context) =>
      withOperations(context, ALSO_IN_APPLICATIONS, async ({ perform }) => {
        const { tokens } = await withProgress('Purging', () =>
          perform<{ tokens: number }>('clients.purgeTokens', {}),
        )
        return { json: { tokens }, text: `Deleted ${formatCount(tokens, 'row', 'rows')}` }
      }),
  }),
}

/** The day of the last use, which is recorded for personal access tokens only. */
function describeUse({ grant_type, last_used_at }: ListedToken): string {
  return last_used_at?.slice(0, 10) ?? (grant_type === 'personal_access' ? 'never' : '-')
}

/** Adds to "not found" where the ids are listed. */
async function orUnknownToken<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof AdminProblem) || error.problem !== 'not-found') throw error
    throw new UsageError(
      `${error.message} Give an id that \`tollgate token list\` shows, not the token itself`,
    )
  }
}
