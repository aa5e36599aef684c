import { clientIdOf } from '../../clients/client.ts'
import type { ServerContext } from '../../context.ts'
import { randomId } from '../../crypto.ts'
import { InvalidRequest, InvalidScope, InvalidTarget, UnauthorizedClient } from '../../errors.ts'
import type { ExchangeRequest, TokenResponse } from '../../grants/grant.ts'
import { type Form, requireParam } from '../../http/form.ts'
import { signJwt } from '../../keys/signing-key.ts'
import { parseScope } from '../../scopes.ts'
import type { Client, Token } from '../../storage/records.ts'
import { type IdTokenHint, readIdTokenHint } from './hint.ts'
import type { AssertionAudience } from './identity-assertion-settings.ts'
import type { OpenIdSettings } from './settings.ts'
import { subjectFor } from './subject.ts'
import { claimsOf } from './user-claims.ts'

/** RFC 8693 §3. */
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token'
/** draft-ietf-oauth-identity-assertion-authz-grant. */
export const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'
const ID_JAG_TYPE = 'oauth-id-jag+jwt'

/**
 * Exchanges an ID token for an Identity Assertion JWT Authorization Grant: by it the same client gets an access token for
 * the same person at another authorization server, without another approval there.
 */
export async function exchangeIdToken(
  { client, params, signOutMark }: ExchangeRequest,
  settings: OpenIdSettings,
  context: ServerContext,
): Promise<TokenResponse> {
  const { aud, audience, client_id } = findAudience(client, params, settings)
  const scopes = within(parseScope(params.get('scope')), audience.scopes, (name) => {
    return new InvalidScope(`The scope '${name}' is not one that this client may have there`)
  })
  const resources = within(listOf(params.get('resource')), audience.resources, () => {
    return new InvalidTarget('The resource is not one that this client may have access to there')
  })
  const subject = await readSubject(client, params, context)
  const now = context.clock.now()
  // The person may have been signed out everywhere since their grants were read.
  if (await context.feed.signedOutSince(subject.userId, signOutMark)) throw wrongSubject()
  const iat = Math.floor(now.getTime() / 1000)
  const { auth_time, acr, amr } = subject.claims
  const claims = {
    ...(await emailOf(subject, audience, context)),
    iss: context.issuer,
    sub: await subjectThere(subject.userId, client, audience, settings, context),
    aud,
    client_id,
    jti: randomId(),
    iat,
    exp: iat + audience.lifetime,
    ...(resources.length > 0 && { resource: resources.length === 1 ? resources[0] : resources }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    auth_time,
    acr,
    amr,
    ...(context.provenKey !== null && { cnf: { jkt: context.provenKey } }),
  }
  return {
    issued_token_type: ID_JAG,
    access_token: await signJwt(context.keys.current(settings.algorithm), ID_JAG_TYPE, claims),
    // It opens no API.
    token_type: 'N_A',
    expires_in: audience.lifetime,
    scope: scopes.join(' '),
  }
}

/** The other server, by its issuer, and what the client is called there. */
function findAudience(client: Client, params: Form, { assertionAudiences }: OpenIdSettings) {
  const asked = requireParam(params, 'audience')
  // Clients that build an address from its parts end a bare host with a slash.
  const found = [...assertionAudiences].find(([name]) => asked === name || asked === `${name}/`)
  const client_id = found?.[1].clients[clientIdOf(client)]
  if (!found || client_id === undefined) {
    throw new InvalidTarget('The audience is not one that this client may have assertions for')
  }
  const [aud, audience] = found
  return { aud, audience, client_id }
}

/** Those asked for, or all. The assertion names them, so the other server cannot take none for any. */
function within(
  asked: readonly string[],
  allowed: readonly string[],
  refusal: (name: string) => Error,
): readonly string[] {
  const refused = asked.find((name) => !allowed.includes(name))
  if (refused !== undefined) throw refusal(refused)
  return asked.length > 0 ? asked : allowed
}

const listOf = (text: string | undefined) => [...new Set(text?.split(' ') ?? [])]

interface Subject {
  readonly userId: string
  /** The scopes that the client was granted and still has. */
  readonly scopes: readonly string[]
  /** The claims of the ID token. */
  readonly claims: IdTokenHint['claims']
}

/** The ID token counts while the client has a grant of the same session: what ends that ends assertions, too. */
async function readSubject(client: Client, params: Form, context: ServerContext): Promise<Subject> {
  if (requireParam(params, 'subject_token_type') !== ID_TOKEN) {
    throw new InvalidRequest(`The subject_token_type must be ${ID_TOKEN}`)
  }
  if (params.has('actor_token') || params.has('actor_token_type')) {
    throw new InvalidRequest('An identity assertion is issued without an actor_token')
  }
  // A pairwise subject leads back to no user, and the client must not learn the user's id.
  if (client.settings.subject_type === 'pairwise') {
    throw new UnauthorizedClient('Clients with pairwise subjects have no identity assertions')
  }
  const hint = readIdTokenHint(requireParam(params, 'subject_token'), context)
  const now = context.clock.now()
  // The signed response of UserInfo is like an ID token, and has no end.
  const isAlive = Number(hint?.claims.exp) * 1000 > now.getTime()
  if (!hint || !isAlive || hint.aud !== clientIdOf(client)) throw wrongSubject()
  const grants = await context.storage.tokens.listByUser(hint.sub, now)
  const behind = grants.filter((each) => isBehind(each, hint.sid, client, context))
  if (behind.length === 0 || !(await context.userExists(hint.sub))) throw wrongSubject()
  const scopes = behind.flatMap((each) => each.scopes)
  return { userId: hint.sub, scopes, claims: hint.claims }
}

function isBehind(
  { clientId, scopes, details }: Token,
  sid: string | null,
  client: Client,
  { feed }: ServerContext,
): boolean {
  const { sid: ofGrant = null, session } = details?.signIn ?? {}
  const isOver = session !== undefined && feed.isRevoked('session', session)
  return clientId === client.id && scopes.includes('openid') && ofGrant === sid && !isOver
}

function wrongSubject(): InvalidRequest {
  return new InvalidRequest('The subject_token is not a living ID token of this client')
}

/** The name by which the other server knows the person when they sign in there with us. */
async function subjectThere(
  userId: string,
  client: Client,
  { relyingParty }: AssertionAudience,
  settings: OpenIdSettings,
  context: ServerContext,
): Promise<string> {
  if (relyingParty === null) return subjectFor(client, userId, settings)
  const there = await context.clients.find(relyingParty)
  if (!there) throw new InvalidTarget('The audience is not a client of this server any more')
  return subjectFor(there, userId, settings)
}

/** The client reads the assertion as well, so it needs the scope. */
async function emailOf(
  { userId, scopes }: Subject,
  { tellsEmail }: AssertionAudience,
  context: ServerContext,
): Promise<Readonly<Record<string, unknown>>> {
  if (!tellsEmail || !scopes.includes('email')) return {}
  const { email, email_verified } = (await claimsOf(userId, ['email'], null, context)) ?? {}
  return email === undefined ? {} : { email, email_verified: email_verified === true }
}
