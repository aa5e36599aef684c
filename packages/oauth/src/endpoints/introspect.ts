import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { authenticateClient } from '../clients/authenticate.ts'
import { derivePairwiseSubject } from '../clients/pairwise-subject.ts'
import { filterAllowedScopes } from '../clients/self-registered.ts'
import type { ServerContext } from '../context.ts'
import { InvalidClient, isOAuthError } from '../errors.ts'
import { splitWithheldScopes } from '../guard/scope-limits.ts'
import { readForm, requireParam } from '../http/form.ts'
import { noStoreJsonResponse } from '../http/responses.ts'
import { parseScope } from '../scopes.ts'
import type { Actor } from '../storage/details.ts'
import type { Client } from '../storage/records.ts'
import {
  formatSubject,
  isBoundToKey,
  parseSubject,
  pickAddedClaims,
} from '../tokens/formats/claims.ts'

const INACTIVE = { active: false }

/**
 * Handles POST /oauth/introspect (RFC 7662). A confidential client can introspect its own tokens; a
 * resource server can introspect the tokens of every client.
 */
export async function handleIntrospection(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const params = await readForm(request)
  const client = await authenticateClient(request, params, context)
  if (!client.confidential) throw new InvalidClient('Public clients cannot introspect tokens')
  const text = requireParam(params, 'token')
  const recording = context.clientUses.note(client.id)
  if (recording) await recording
  const refresh = context.refreshTokens.parse(text)
  const found = refresh
    ? await describeRefreshToken(refresh, context)
    : await describeAccessToken(text, context)
  const visible = found && limitDescription(client, found, context)
  const description = visible ? await addWithheldScopes(visible, found, context) : INACTIVE
  for (const feature of context.features.introspections) {
    const special = feature.introspection?.(description, { request, client }, context)
    if (special) return special
  }
  return noStoreJsonResponse(description)
}

interface TokenDescription {
  readonly active: true
  readonly client_id: string
  readonly sub: string
  readonly scope: string
  readonly act?: Actor
  readonly [claim: string]: unknown
}

/**
 * Reduces the description to what this client may see. Returns `null` if the token belongs to
 * another client.
 */
function limitDescription(
  client: Client,
  found: TokenDescription,
  context: ServerContext,
): TokenDescription | null {
  if (client.resourceServer) return found
  if (found.client_id !== client.id) return null
  if (context.features.subjectNamers.length === 0) return found
  const { act } = found
  // Claims added by the application for its APIs may identify the person, whom this client knows
  // only by a pairwise subject.
  const hidden = client.settings.subject_type === 'pairwise' ? pickAddedClaims(found) : {}
  const shown = Object.entries(found).filter(([name]) => !Object.hasOwn(hidden, name))
  return {
    ...(Object.fromEntries(shown) as TokenDescription),
    sub: toVisibleSubject(client, found.sub, context),
    ...(act && { act: toVisibleActor(client, act, context) }),
  }
}

function toVisibleActor(client: Client, { sub, act }: Actor, context: ServerContext): Actor {
  return {
    sub: toVisibleSubject(client, sub, context),
    ...(act && { act: toVisibleActor(client, act, context) }),
  }
}

function toVisibleSubject(client: Client, sub: string, context: ServerContext): string {
  const subject = parseSubject(sub)
  return subject?.kind === 'user'
    ? (derivePairwiseSubject(client, subject.id, context) ?? sub)
    : sub
}

/**
 * Adds the scopes of the token that limits withhold at present, so that an API elsewhere can tell
 * them from scopes that the token lacks. Fails if the limits are unknown, because that API relies on
 * them. `found` contains the user id even if the client may not see it.
 */
async function addWithheldScopes(
  visible: TokenDescription,
  { sub, client_id: clientId, scope }: TokenDescription,
  { scopeLimiters, options }: ServerContext,
): Promise<TokenDescription> {
  if (scopeLimiters.isEmpty) return visible
  const subject = parseSubject(sub)
  const userId = subject?.kind === 'user' ? subject.id : null
  const limits = await scopeLimiters.find({ userId, clientId })
  const { withheld } = splitWithheldScopes(parseScope(scope), limits, options)
  return withheld.length > 0 ? { ...visible, withheld_scope: withheld.join(' ') } : visible
}

/** Describes an access token. Uses the verifier of the guard, so that the two never disagree. */
async function describeAccessToken(
  text: string,
  context: ServerContext,
): Promise<TokenDescription | null> {
  try {
    const { claims, scopes } = await context.verifier.verify(text)
    const token_type = isBoundToKey(claims) ? 'DPoP' : 'Bearer'
    return { active: true, token_type, ...claims, scope: scopes.join(' ') }
  } catch (error) {
    if (isOAuthError(error, 'invalid_token')) return null
    throw error
  }
}

async function describeRefreshToken(
  content: { readonly tokenId: string; readonly generation: number },
  context: ServerContext,
): Promise<TokenDescription | null> {
  const token = await context.storage.tokens.find(content.tokenId)
  if (!token?.refreshExpiresAt || token.revokedAt || token.generation !== content.generation) {
    return null
  }
  const client = await context.clients.find(token.clientId)
  const now = context.options.clock.now()
  if (client?.secretVersion !== token.clientSecretVersion) return null
  if (token.refreshExpiresAt <= now) return null
  const { userId } = token
  if (userId === null || !(await context.knownUsers.exists(context.knownUsers.of(userId))))
    return null
  return {
    active: true,
    token_type: 'refresh_token',
    iss: context.options.issuer,
    sub: formatSubject(token),
    client_id: token.clientId,
    scope: filterAllowedScopes(token.scopes, client, context.options).join(' '),
    iat: Math.floor(token.issuedAt.getTime() / 1000),
    exp: Math.floor(token.refreshExpiresAt.getTime() / 1000),
  }
}
