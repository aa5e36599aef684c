import { getPublicClientId } from '../../clients/client.ts'
import type { ServerContext } from '../../context.ts'
import { createRandomId } from '../../crypto.ts'
import { InvalidRequest, InvalidScope, InvalidTarget, UnauthorizedClient } from '../../errors.ts'
import type { TokenEndpointRequest, TokenResponse } from '../../grants/grant.ts'
import { type Form, requireParam } from '../../http/form.ts'
import { signJwt } from '../../keys/signing-key.ts'
import { parseScope } from '../../scopes.ts'
import type { Client, Token } from '../../storage/records.ts'
import { type IdTokenHint, readIdTokenHint } from './hint.ts'
import type { AssertionAudience } from './identity-assertion-settings.ts'
import type { OpenIdSettings } from './settings.ts'
import { chooseSubjectForClient } from './subject.ts'
import { readUserClaims } from './user-claims.ts'

/** Token type URIs of RFC 8693 §3. */
const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token'
/** Token type URI of draft-ietf-oauth-identity-assertion-authz-grant. */
export const ID_JAG_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:id-jag'
const ID_JAG_TYPE = 'oauth-id-jag+jwt'

/**
 * Exchanges an ID token for an Identity Assertion JWT Authorization Grant, with which the same
 * client gets an access token for the same person at another authorization server, without another
 * approval there.
 */
export async function exchangeIdToken(
  { client, params, signOutMark }: TokenEndpointRequest,
  settings: OpenIdSettings,
  context: ServerContext,
): Promise<TokenResponse> {
  const { aud, audience, client_id } = findAudience(client, params, settings)
  const scopes = chooseRequestedOrAll(parseScope(params.get('scope')), audience.scopes, (name) => {
    return new InvalidScope(`This client may not have the scope '${name}' for this audience`)
  })
  const resources = chooseRequestedOrAll(
    splitUnique(params.get('resource')),
    audience.resources,
    () => {
      return new InvalidTarget('This client may not have access to this resource for this audience')
    },
  )
  const subject = await readSubject(client, params, context)
  const now = context.clock.now()
  // The person may have been signed out everywhere after their grants were read.
  if (await context.feed.signedOutSince(subject.userId, signOutMark)) throw wrongSubject()
  const iat = Math.floor(now.getTime() / 1000)
  const { auth_time, acr, amr } = subject.claims
  const claims = {
    ...(await readEmailClaims(subject, audience, context)),
    iss: context.issuer,
    sub: await findAudienceSubject(subject.userId, client, audience, settings, context),
    aud,
    client_id,
    jti: createRandomId(),
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
    issued_token_type: ID_JAG_TOKEN_TYPE,
    access_token: await signJwt(context.keys.current(settings.algorithm), ID_JAG_TYPE, claims),
    // An assertion does not give access to any API.
    token_type: 'N_A',
    expires_in: audience.lifetime,
    scope: scopes.join(' '),
  }
}

/** Finds the other server by its issuer, and the id of the client there. */
function findAudience(client: Client, params: Form, { assertionAudiences }: OpenIdSettings) {
  const requested = requireParam(params, 'audience')
  // Clients that normalize URLs add a slash to a bare host.
  const found = [...assertionAudiences].find(
    ([name]) => requested === name || requested === `${name}/`,
  )
  const client_id = found?.[1].clients[getPublicClientId(client)]
  if (!found || client_id === undefined) {
    throw new InvalidTarget('This client may not get assertions for this audience')
  }
  const [aud, audience] = found
  return { aud, audience, client_id }
}

/**
 * Returns the requested values, or all allowed values if none were requested. The assertion always
 * lists its values, because the other server could interpret a missing list as all values.
 */
function chooseRequestedOrAll(
  requested: readonly string[],
  allowed: readonly string[],
  refusal: (name: string) => Error,
): readonly string[] {
  const refused = requested.find((name) => !allowed.includes(name))
  if (refused !== undefined) throw refusal(refused)
  return requested.length > 0 ? requested : allowed
}

const splitUnique = (text: string | undefined) => [...new Set(text?.split(' ') ?? [])]

interface Subject {
  readonly userId: string
  /** Scopes that the client was granted and still has. */
  readonly scopes: readonly string[]
  /** Claims of the ID token. */
  readonly claims: IdTokenHint['claims']
}

/**
 * Verifies the ID token. It is accepted while the client has a grant from the same session, so
 * whatever ends the grant ends assertions too.
 */
async function readSubject(client: Client, params: Form, context: ServerContext): Promise<Subject> {
  if (requireParam(params, 'subject_token_type') !== ID_TOKEN) {
    throw new InvalidRequest(`The subject_token_type must be ${ID_TOKEN}`)
  }
  if (params.has('actor_token') || params.has('actor_token_type')) {
    throw new InvalidRequest('An identity assertion cannot be requested with an actor_token')
  }
  // A pairwise subject cannot be mapped back to a user, and this client must not learn the user's
  // id.
  if (client.settings.subject_type === 'pairwise') {
    throw new UnauthorizedClient('Clients with pairwise subjects cannot get identity assertions')
  }
  const hint = readIdTokenHint(requireParam(params, 'subject_token'), context)
  const now = context.clock.now()
  // A signed UserInfo response resembles an ID token but has no `exp`.
  const isAlive = Number(hint?.claims.exp) * 1000 > now.getTime()
  if (!hint || !isAlive || hint.aud !== getPublicClientId(client)) throw wrongSubject()
  const grants = await context.storage.tokens.listByUser(hint.sub, now)
  const behind = grants.filter((each) => hintMatchesSession(each, hint.sid, client, context))
  if (behind.length === 0 || !(await context.userExists(hint.sub))) throw wrongSubject()
  const scopes = behind.flatMap((each) => each.scopes)
  return { userId: hint.sub, scopes, claims: hint.claims }
}

function hintMatchesSession(
  { clientId, scopes, details }: Token,
  sid: string | null,
  client: Client,
  { feed }: ServerContext,
): boolean {
  const { sid: ofGrant = null, session } = details?.signIn ?? {}
  const hasEnded = session !== undefined && feed.isRevoked('session', session)
  return clientId === client.id && scopes.includes('openid') && ofGrant === sid && !hasEnded
}

function wrongSubject(): InvalidRequest {
  return new InvalidRequest('The subject_token is not a valid ID token of this client')
}

/**
 * Returns the subject under which the other server knows the person if they sign in there through
 * this server.
 */
async function findAudienceSubject(
  userId: string,
  client: Client,
  { relyingParty }: AssertionAudience,
  settings: OpenIdSettings,
  context: ServerContext,
): Promise<string> {
  if (relyingParty === null) return chooseSubjectForClient(client, userId, settings)
  const there = await context.clients.find(relyingParty)
  if (!there) throw new InvalidTarget('The audience is no longer a client of this server')
  return chooseSubjectForClient(there, userId, settings)
}

/**
 * Returns the claims about the e-mail address, if they are enabled and the client has the scope
 * `email`: the client can read the assertion too.
 */
async function readEmailClaims(
  { userId, scopes }: Subject,
  { tellsEmail }: AssertionAudience,
  context: ServerContext,
): Promise<Readonly<Record<string, unknown>>> {
  if (!tellsEmail || !scopes.includes('email')) return {}
  const { email, email_verified } = (await readUserClaims(userId, ['email'], null, context)) ?? {}
  return email === undefined ? {} : { email, email_verified: email_verified === true }
}
