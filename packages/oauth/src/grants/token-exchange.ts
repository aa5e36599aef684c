import type { ServerContext } from '../context.ts'
import { InvalidRequest, UnauthorizedClient } from '../errors.ts'
import type { VerifiedToken } from '../guard/verify.ts'
import { type Form, requireParam } from '../http/form.ts'
import { findResource, resourceDetails } from '../resources/requested.ts'
import type { Actor, GrantDetails, ParentToken } from '../storage/details.ts'
import type { Client } from '../storage/records.ts'
import { type AccessTokenClaims, isBound } from '../tokens/formats/claims.ts'
import { type ShownToken, shareOfSubject, verifyShown } from './exchanged-share.ts'
import type { Grant, GrantType } from './grant.ts'

export const TOKEN_EXCHANGE: GrantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
/** RFC 8693 §3. */
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const JWT = 'urn:ietf:params:oauth:token-type:jwt'
/** Each stands in the token, which has to fit into a header. */
const MOST_PARENTS = 16

/** What `tokenExchange()` is made with. */
export interface TokenExchangeOptions {
  /** Whether every exchange needs an `actor_token`, so all tokens say who acts. Default false. */
  readonly actorRequired?: boolean
  /** Whether this client may have this token. Asked last; default: whoever was given the grant may. */
  allow?(question: ExchangeQuestion): boolean | Promise<boolean>
}

/** An exchange that is right in all else. */
export interface ExchangeQuestion {
  /** Who asks. */
  readonly client: Client
  /** The token that is given. */
  readonly subject: VerifiedToken
  /** The token of whoever will act; null when nobody is named. */
  readonly actor: VerifiedToken | null
  /** What the new token may do. */
  readonly scopes: readonly string[]
  /** The APIs it is for, by their addresses. */
  readonly resources: readonly string[]
}

/**
 * RFC 8693: a client gives a token of ours and gets one of its own for the same person, never wider and never
 * longer. It ends with those that were given. Only confidential clients that were given the grant.
 * @example
 * createAuthorizationServer({ …, grants: [authorizationCode(), tokenExchange()] })
 */
export function tokenExchange(options: TokenExchangeOptions = {}): Grant {
  return {
    type: TOKEN_EXCHANGE,
    async exchange(request, context: ServerContext) {
      const { client, params } = request
      if (!client.confidential) {
        throw new UnauthorizedClient('Only confidential clients may exchange tokens')
      }
      const other = context.features.exchanges.get(params.get('requested_token_type') ?? '')
      if (other) return other.issue(request, context)
      const wanted = readWantedType(params)
      const subject = await readSubject(params, context)
      const actor = await readActor(params, client, options, context)
      const { scopes, resources } = shareOfSubject(subject, { client, params }, context)
      const details: GrantDetails = {
        ...resourceDetails(resources, context.options.resources),
        ...detailsOfSubject(subject, actor),
      }
      if (wanted === JWT && !isJwt(details, client, context)) {
        throw new InvalidRequest('The access tokens of this resource are no JWTs')
      }
      const question = { client, subject: subject.verified, actor, scopes, resources }
      if (options.allow && !(await options.allow(question))) {
        throw new InvalidRequest('This client may not exchange that token')
      }
      const response = await context.issueTokens({
        client,
        userId: subject.userId,
        scopes,
        grantType: TOKEN_EXCHANGE,
        refreshable: false,
        expiresAt: firstEnd(subject.verified, actor),
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

interface Subject extends ShownToken {
  readonly userId: string
}

/** RFC 8693 §2.2.2: whatever is wrong with a token is `invalid_request`. */
async function readSubject(params: Form, context: ServerContext): Promise<Subject> {
  assertTokenType(params, 'subject_token_type')
  const shown = await verifyShown(requireParam(params, 'subject_token'), 'subject_token', context)
  const { subject } = shown.verified
  // Another client cannot take the place of this one: its token would say another name.
  if (subject.kind !== 'user') throw new InvalidRequest('The subject_token belongs to no user')
  // By what the token says: its row may have begun without a key.
  if (isBound(shown.verified.claims)) {
    throw new InvalidRequest('The subject_token is bound to a key, so nobody else can use it')
  }
  return { ...shown, userId: subject.id }
}

/** Its own: a client must not say that somebody acts whose token has only come by. */
async function readActor(
  params: Form,
  client: Client,
  { actorRequired = false }: TokenExchangeOptions,
  context: ServerContext,
): Promise<VerifiedToken | null> {
  const text = params.get('actor_token')
  if (text === undefined) {
    if (params.has('actor_token_type')) throw new InvalidRequest('There is no actor_token')
    if (actorRequired) throw new InvalidRequest('This server wants an actor_token')
    return null
  }
  assertTokenType(params, 'actor_token_type')
  const { verified } = await verifyShown(text, 'actor_token', context)
  if (verified.clientId === client.id) return verified
  throw new InvalidRequest('The actor_token is not one of this client')
}

/** Not longer than either, so the feed knows of their end for as long as it lives. */
function firstEnd(subject: VerifiedToken, actor: VerifiedToken | null): Date {
  const ends = [subject, ...(actor ? [actor] : [])].map(({ claims }) => claims.exp)
  return new Date(Math.min(...ends) * 1000)
}

/** What goes from the tokens that were given to the new one, whatever the client asks for. */
function detailsOfSubject(
  { verified: { claims }, row }: ShownToken,
  actor: VerifiedToken | null,
): GrantDetails {
  const parents = [...withParents(claims), ...(actor ? withParents(actor.claims) : [])]
  if (parents.length > MOST_PARENTS) {
    throw new InvalidRequest(`A token can come of ${MOST_PARENTS} others at most`)
  }
  const before = claims.act
  // RFC 8693 §4.1: the last one outermost. Without a new one, those there are stay.
  const act: Actor | undefined = actor
    ? { sub: actor.claims.sub, ...(before && { act: before }) }
    : before
  return {
    parents,
    ...(act && { actor: act }),
    // Its holder was not to learn who the person is to others.
    ...(row.details?.opaque && { opaque: true }),
  }
}

function withParents({ jti, client_id, parents = [] }: AccessTokenClaims): ParentToken[] {
  return [{ jti, client_id }, ...parents]
}

function isJwt(details: GrantDetails, client: Client, { options }: ServerContext): boolean {
  const [uri = options.resources.own.uri] = details.resources ?? []
  const format = findResource(uri, options.resources)?.format ?? options.accessTokenFormat
  return format === 'jwt' && !details.opaque && client.settings.subject_type !== 'pairwise'
}
