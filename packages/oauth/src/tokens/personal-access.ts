import { personalAccessClient } from '../clients/manage.ts'
import { parseClientName } from '../clients/parse.ts'
import type { ServerContext } from '../context.ts'
import { Unauthenticated } from '../errors.ts'
import { resolveScopes } from '../scopes.ts'
import type { Client, Token } from '../storage/records.ts'
import { retryIfSignedOut } from '../users/retry-if-signed-out.ts'
import { createTokenResponse, prepareToken, storeUnlessSignedOut } from './issue.ts'

/** A personal access token that was just made. */
export interface PersonalAccessToken {
  /** Shown once, to the person; it is not stored. */
  readonly accessToken: string
  /** Its row. */
  readonly token: Token
  /** The client it hangs on. */
  readonly client: Client
}

export interface PersonalAccessRequest {
  readonly name: string
  readonly scopes: readonly string[]
}

/** Lists the scopes that personal access tokens may have: all but those about the person, such as `openid`. */
export function personalAccessScopes({
  options: { scopeNames, identityScopes },
}: ServerContext): ReadonlySet<string> {
  if (identityScopes.size === 0) return scopeNames
  return new Set([...scopeNames].filter((name) => !identityScopes.has(name)))
}

/** `look` says who is to get it: whoever is signed in, or whom the application names. */
export async function issuePersonalAccessToken(
  request: PersonalAccessRequest,
  look: () => Promise<string>,
  context: ServerContext,
): Promise<PersonalAccessToken> {
  const name = parseClientName(request.name)
  const scopes = resolveScopes([...new Set(request.scopes)], {
    defined: personalAccessScopes(context),
    client: null,
    wildcard: 'refused',
  })
  await context.clock.check?.()
  const client = await personalAccessClient(context)
  const issue = { name, scopes, client, grantType: 'personal_access', refreshable: false } as const
  const token = await retryIfSignedOut(context, look, async (userId, mark) =>
    storeUnlessSignedOut(await prepareToken({ ...issue, userId }, context), mark, context),
  )
  if (!token) throw new Unauthenticated('The account was signed out everywhere; sign in again.')
  const { access_token } = await createTokenResponse(token, context)
  return { accessToken: access_token, token, client }
}

export async function listPersonalAccessTokens(
  userId: string,
  context: ServerContext,
): Promise<Token[]> {
  const tokens = await context.storage.tokens.listByUser(userId, context.options.clock.now())
  return tokens.filter((token) => token.grantType === 'personal_access')
}
