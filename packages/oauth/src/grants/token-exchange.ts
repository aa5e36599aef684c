import type { ServerContext } from '../context.ts'
import { InvalidRequest, UnauthorizedClient } from '../errors.ts'
import type { VerifiedToken } from '../guard/verify.ts'
import { type Form, requireParam } from '../http/form.ts'
import { buildResourceDetails, findResource } from '../resources/requested.ts'
import type { Actor, GrantDetails, ParentToken } from '../storage/details.ts'
import type { Client } from '../storage/records.ts'
import { type AccessTokenClaims, isBoundToKey } from '../tokens/formats/claims.ts'
import { clientServesUser } from '../users/providers.ts'
import {
  determineAccessFromSubjectToken,
  type PresentedToken,
  verifyPresentedToken,
} from './exchanged-share.ts'
import type { Grant, GrantType } from './grant.ts'

export const TOKEN_EXCHANGE_GRANT_TYPE: GrantType =
  'urn:ietf:params:oauth:grant-type:token-exchange'
/** Token type URIs of RFC 8693 §3. */
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const JWT = 'urn:ietf:params:oauth:token-type:jwt'
/**
 * Maximum number of parent tokens. The new token lists all of them and has to fit into a header.
 */
const MAX_PARENTS = 16

/** Options of `tokenExchange()`. */
export interface TokenExchangeOptions {
  /**
   * Whether every exchange needs an `actor_token`, so that all exchanged tokens name the acting
   * party.
   * @default false
   */
  readonly actorRequired?: boolean
  /**
   * Decides whether this client may have this token. Called last. By default, every client with the
   * grant may.
   */
  allow?(question: TokenExchangePolicyInput): boolean | Promise<boolean>
}

/** A token exchange that has passed all other checks. */
export interface TokenExchangePolicyInput {
  /** The client that sent the request. */
  readonly client: Client
  /** The presented token. */
  readonly subject: VerifiedToken
  /** The token of the acting party. `null` if there is none. */
  readonly actor: VerifiedToken | null
  /** The scopes of the new token. */
  readonly scopes: readonly string[]
  /** URLs of the APIs that the new token is for. */
  readonly resources: readonly string[]
}

/**
 * Creates the token exchange grant (RFC 8693): a confidential client that holds the grant exchanges
 * an access token of this server for one of its own, for the same person. The new token never has
 * more scopes or a later expiry than the old one, and becomes invalid when the old one is revoked.
 * @example
 * createAuthorizationServer({ …, grants: [authorizationCode(), tokenExchange()] })
 */
export function tokenExchange(options: TokenExchangeOptions = {}): Grant {
  return {
    type: TOKEN_EXCHANGE_GRANT_TYPE,
    async exchange(request, context: ServerContext) {
      const { client, params } = request
      if (!client.confidential) {
        throw new UnauthorizedClient('Only confidential clients may exchange tokens')
      }
      const other = context.features.exchanges.get(params.get('requested_token_type') ?? '')
      if (other) return other.issue(request, context)
      const wanted = readWantedType(params)
      const subject = await readSubject(client, params, context)
      const actor = await readActor(params, client, options, context)
      const { scopes, resources } = determineAccessFromSubjectToken(
        subject,
        { client, params },
        context,
      )
      const details: GrantDetails = {
        ...buildResourceDetails(resources, context.options.resources),
        ...buildExchangedDetails(subject, actor),
      }
      if (wanted === JWT && !isJwt(details, client, context)) {
        throw new InvalidRequest('The access tokens of this resource are not JWTs')
      }
      const question = { client, subject: subject.verified, actor, scopes, resources }
      if (options.allow && !(await options.allow(question))) {
        throw new InvalidRequest('This client may not exchange that token')
      }
      const response = await context.issueTokens({
        client,
        userId: subject.userId,
        scopes,
        grantType: TOKEN_EXCHANGE_GRANT_TYPE,
        refreshable: false,
        expiresAt: findEarliestExpiry(subject.verified, actor),
        details,
      })
      return { ...response, issued_token_type: wanted }
    },
  }
}

function readWantedType(params: Form): string {
  const wanted = params.get('requested_token_type') ?? ACCESS_TOKEN
  if (wanted === ACCESS_TOKEN || wanted === JWT) return wanted
  throw new InvalidRequest('This server exchanges tokens for access tokens only')
}

function assertTokenType(params: Form, name: string): void {
  const type = requireParam(params, name)
  if (type === ACCESS_TOKEN || type === JWT) return
  throw new InvalidRequest(`The ${name} must be ${ACCESS_TOKEN}`)
}

interface Subject extends PresentedToken {
  readonly userId: string
}

/** Reads the `subject_token`. Any problem with it is an `invalid_request` (RFC 8693 §2.2.2). */
async function readSubject(client: Client, params: Form, context: ServerContext): Promise<Subject> {
  assertTokenType(params, 'subject_token_type')
  const shown = await verifyPresentedToken(
    requireParam(params, 'subject_token'),
    'subject_token',
    context,
  )
  const { subject } = shown.verified
  // A token about a client itself cannot be passed on: the new token would name a different client.
  if (subject.kind !== 'user')
    throw new InvalidRequest('The subject_token does not belong to a user')
  if (!clientServesUser(client, subject.id, context.providers)) {
    throw new InvalidRequest('The subject_token belongs to a user of another provider')
  }
  // Read from the token, because its row may have started without a key.
  if (isBoundToKey(shown.verified.claims)) {
    throw new InvalidRequest('The subject_token is bound to a key, so it cannot be exchanged')
  }
  return { ...shown, userId: subject.id }
}

/**
 * Reads the `actor_token`, which must belong to this client: a client must not name as actor a
 * party whose token it only received.
 */
async function readActor(
  params: Form,
  client: Client,
  { actorRequired = false }: TokenExchangeOptions,
  context: ServerContext,
): Promise<VerifiedToken | null> {
  const text = params.get('actor_token')
  if (text === undefined) {
    if (params.has('actor_token_type'))
      throw new InvalidRequest('actor_token_type was sent without actor_token')
    if (actorRequired) throw new InvalidRequest('This server requires an actor_token')
    return null
  }
  assertTokenType(params, 'actor_token_type')
  const { verified } = await verifyPresentedToken(text, 'actor_token', context)
  if (verified.clientId === client.id) return verified
  throw new InvalidRequest('The actor_token was not issued to this client')
}

/**
 * Returns the expiry of the new token: the earliest expiry of its parents. The revocation feed then
 * contains the revocation of a parent for as long as the new token is valid.
 */
function findEarliestExpiry(subject: VerifiedToken, actor: VerifiedToken | null): Date {
  const ends = [subject, ...(actor ? [actor] : [])].map(({ claims }) => claims.exp)
  return new Date(Math.min(...ends) * 1000)
}

/** Details that the new token inherits from its parents, whatever the client requests. */
function buildExchangedDetails(
  { verified: { claims }, row }: PresentedToken,
  actor: VerifiedToken | null,
): GrantDetails {
  const parents = [...listTokenAncestry(claims), ...(actor ? listTokenAncestry(actor.claims) : [])]
  if (parents.length > MAX_PARENTS) {
    throw new InvalidRequest(`A token may be derived from at most ${MAX_PARENTS} other tokens`)
  }
  const before = claims.act
  // RFC 8693 §4.1: the latest actor is outermost. Without a new actor, the existing ones stay.
  const act: Actor | undefined = actor
    ? { sub: actor.claims.sub, ...(before && { act: before }) }
    : before
  return {
    parents,
    ...(act && { actor: act }),
    // The holder of the presented token was not allowed to learn the person's id.
    ...(row.details?.opaque && { opaque: true }),
  }
}

function listTokenAncestry({ jti, client_id, parents = [] }: AccessTokenClaims): ParentToken[] {
  return [{ jti, client_id }, ...parents]
}

function isJwt(details: GrantDetails, client: Client, { options }: ServerContext): boolean {
  const [uri = options.resources.own.uri] = details.resources ?? []
  const format = findResource(uri, options.resources)?.format ?? options.accessTokenFormat
  return format === 'jwt' && !details.opaque && client.settings.subject_type !== 'pairwise'
}
