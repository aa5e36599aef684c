import { getPersonalAccessClient } from '../clients/manage.ts'
import { parseClientName } from '../clients/parse.ts'
import { isAfter } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { Unauthenticated, ValidationFailed } from '../errors.ts'
import { resolveScopes } from '../scopes.ts'
import type { Client, Token } from '../storage/records.ts'
import { retryIfSignedOut } from '../users/retry-if-signed-out.ts'
import { createTokenResponse, prepareToken, storeUnlessSignedOut } from './issue.ts'

/** A new personal access token. */
export interface PersonalAccessToken {
  /** The token to show to the user. Cannot be read again later. */
  readonly accessToken: string
  /** The stored row of the token. */
  readonly token: Token
  /** The client of all personal access tokens. */
  readonly client: Client
}

export interface PersonalAccessRequest {
  readonly name: string
  readonly scopes: readonly string[]
  /** When the token expires. `undefined` for the longest lifetime that the server allows. */
  readonly expiresAt?: Date | undefined
}

/**
 * Lists the scopes that personal access tokens may have: all except those about the user, such as
 * `openid`.
 */
export function listPersonalAccessScopes({
  options: { scopeNames, identityScopes },
}: ServerContext): ReadonlySet<string> {
  if (identityScopes.size === 0) return scopeNames
  return new Set([...scopeNames].filter((name) => !identityScopes.has(name)))
}

/**
 * Issues a personal access token. `findUserId` returns the id of the user that the token is for. It
 * is called again if that user was signed out after the first call.
 * @throws Unauthenticated if the user was signed out everywhere
 * @throws ValidationFailed if the expiry is not in the future, or later than the server allows
 */
export async function issuePersonalAccessToken(
  request: PersonalAccessRequest,
  findUserId: () => Promise<string>,
  context: ServerContext,
): Promise<PersonalAccessToken> {
  const name = parseClientName(request.name)
  const scopes = resolveScopes([...new Set(request.scopes)], {
    defined: listPersonalAccessScopes(context),
    client: null,
    wildcard: 'refused',
  })
  await context.clock.check?.()
  const { expiresAt } = request
  if (expiresAt) requirePossibleExpiry(expiresAt, context)
  const client = await getPersonalAccessClient(context)
  const expiry = expiresAt ? { expiresAt } : {}
  const issue = {
    ...expiry,
    name,
    scopes,
    client,
    grantType: 'personal_access',
    refreshable: false,
  } as const
  const token = await retryIfSignedOut(context, findUserId, async (userId, mark) =>
    storeUnlessSignedOut(await prepareToken({ ...issue, userId }, context), mark, context),
  )
  if (!token) throw new Unauthenticated('The account was signed out everywhere; sign in again.')
  const { access_token } = await createTokenResponse(token, context)
  return { accessToken: access_token, token, client }
}

/** Rejects an expiry that the token would not have, because the person relies on it. */
function requirePossibleExpiry(expiresAt: Date, { options, clock }: ServerContext): void {
  const now = clock.now()
  const latest = options.personalAccessTokensExpireAt(now)
  const isPossible = expiresAt.getTime() > now.getTime() && !isAfter(expiresAt, latest)
  if (isPossible) return
  const reason = `The token must expire in the future, and at the latest on ${latest.toISOString()}.`
  throw new ValidationFailed({ expires_in: [reason] })
}

export async function listPersonalAccessTokens(
  userId: string,
  context: ServerContext,
): Promise<Token[]> {
  const tokens = await context.storage.tokens.listByUser(userId, context.options.clock.now())
  return tokens.filter((token) => token.grantType === 'personal_access')
}
