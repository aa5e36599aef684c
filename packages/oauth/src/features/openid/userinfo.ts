import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { getPublicClientId } from '../../clients/client.ts'
import type { ServerContext } from '../../context.ts'
import { InsufficientScope, InvalidRequest, InvalidToken } from '../../errors.ts'
import { parsePresentedToken } from '../../guard/bearer.ts'
import type { VerifiedToken } from '../../guard/verify.ts'
import { readMediaType } from '../../http/body.ts'
import { readForm } from '../../http/form.ts'
import { noStoreJsonResponse } from '../../http/responses.ts'
import { signJwt } from '../../keys/signing-key.ts'
import type { Client } from '../../storage/records.ts'
import { isForAudience } from '../../tokens/formats/claims.ts'
import { requireKeyHolder } from '../../tokens/key-holder.ts'
import { filterRequestedClaims, selectClaims } from './claims.ts'
import { listOfferedIdTokenAlgorithms } from './id-token.ts'
import type { OpenIdSettings } from './settings.ts'
import { chooseSubjectForClient } from './subject.ts'
import { readUserClaims } from './user-claims.ts'

/** Creates the handler for GET and POST /oauth/userinfo (OpenID Connect Core §5.3). */
export function createUserinfoEndpoint(settings: OpenIdSettings) {
  return async (request: HttpRequest, context: ServerContext): Promise<HttpResponse> => {
    const token = await readToken(request, context)
    if (!isForAudience(context.options.audience, token.claims)) {
      throw new InvalidToken('The access token is for another API')
    }
    if (token.subject.kind !== 'user')
      throw new InvalidToken('The access token does not belong to a user')
    // The wildcard `*` gives access to the API, not to information about the person, so the scope
    // must be present by name.
    if (!token.scopes.includes('openid')) {
      throw new InsufficientScope('The token needs the scope: openid', ['openid'])
    }
    const client = await context.clients.find(token.clientId)
    const row = await context.storage.tokens.find(token.tokenId)
    if (!client || !row) throw new InvalidToken('The access token is invalid, expired or revoked')
    const userId = token.subject.id
    const all = await readUserClaims(userId, token.scopes, row.details, context)
    if (!all) throw new InvalidToken('The access token is invalid, expired or revoked')
    const { details } = row
    const wishes = details && filterRequestedClaims(details.claims?.userinfo, token.scopes, details)
    const claims = {
      ...selectClaims(all, token.scopes, wishes ?? undefined),
      sub: chooseSubjectForClient(client, userId, settings),
    }
    return respond(claims, client, settings, context)
  }
}

/**
 * Responds with JSON, or with a JWT if the client is registered for one (OpenID Connect Core
 * §5.3.2).
 */
async function respond(
  claims: object,
  client: Client,
  settings: OpenIdSettings,
  context: ServerContext,
): Promise<HttpResponse> {
  const registeredAlgorithm = client.settings.userinfo_signed_response_alg
  const algorithm =
    registeredAlgorithm &&
    listOfferedIdTokenAlgorithms(settings, context).find((name) => name === registeredAlgorithm)
  if (!algorithm) return noStoreJsonResponse(claims)
  const signed = { ...claims, iss: context.issuer, aud: getPublicClientId(client) }
  const body = await signJwt(context.keys.current(algorithm), 'JWT', signed)
  return { ...noStoreJsonResponse(null, 200, { 'content-type': 'application/jwt' }), body }
}

/** Reads the access token from the header or from a form body, but not from both (RFC 6750 §2). */
async function readToken(request: HttpRequest, context: ServerContext): Promise<VerifiedToken> {
  const header = request.header('authorization')
  const isForm =
    request.method === 'POST' && readMediaType(request) === 'application/x-www-form-urlencoded'
  const inBody = isForm ? (await readForm(request)).get('access_token') : undefined
  if (header !== null && inBody !== undefined) {
    throw new InvalidRequest('The token is sent in the header and in the body; use one')
  }
  if (header !== null) return verifyPresented(header, request, context)
  // A token that is bound to a key must be in the header (RFC 9449 §7.1), so this one is verified
  // as a bearer token.
  if (inBody !== undefined) return context.verifier.verifyHeader(`Bearer ${inBody}`)
  throw new InvalidToken('No access token was sent', { presented: false })
}

async function verifyPresented(
  header: string,
  request: HttpRequest,
  context: ServerContext,
): Promise<VerifiedToken> {
  const token = await context.verifier.verifyHeader(header)
  await requireKeyHolder(token, parsePresentedToken(header).text, request, context)
  return token
}
