import { personalAccessClient } from '../clients/manage.ts'
import { parseClientName } from '../clients/parse.ts'
import type { ServerContext } from '../context.ts'
import { Unauthenticated } from '../errors.ts'
import { resolveScopes } from '../scopes.ts'
import type { Client, Token } from '../storage/repositories.ts'
import { buildToken, handOver, storeUnlessEnded } from './issue.ts'

export interface PersonalAccessToken {
  /** Shown once, to the person; it is not stored. */
  readonly accessToken: string
  readonly token: Token
  readonly client: Client
}

export interface PersonalAccessRequest {
  readonly userId: string
  readonly name: string
  readonly scopes: readonly string[]
}

/** `mark`: of the feed, from before it was checked that the person is signed in. */
export async function issuePersonalAccessToken(
  request: PersonalAccessRequest,
  context: ServerContext,
  mark = context.feed.endings(),
): Promise<PersonalAccessToken> {
  const name = parseClientName(request.name)
  const scopes = resolveScopes([...new Set(request.scopes)], {
    defined: context.options.scopeNames,
    client: null,
    wildcard: 'refused',
  })
  const client = await personalAccessClient(context)
  const token = buildToken(
    { ...request, name, scopes, client, grantType: 'personal_access', refreshable: false },
    context,
  )
  if (!(await storeUnlessEnded(token, mark, context))) {
    throw new Unauthenticated('The account was signed out everywhere; sign in again.')
  }
  const { access_token } = await handOver(token, context)
  return { accessToken: access_token, token, client }
}

export async function listPersonalAccessTokens(
  userId: string,
  context: ServerContext,
): Promise<Token[]> {
  const tokens = await context.storage.tokens.listByUser(userId, context.options.clock.now())
  return tokens.filter((token) => token.grantType === 'personal_access')
}
