import { matchesRedirect, redirectProblem } from '../clients/redirect-uris.ts'
import { scopeLimitOf } from '../clients/self-registered.ts'
import { assertDemandsMet } from '../clients/settings/demands.ts'
import type { ServerContext } from '../context.ts'
import { InvalidRequest, UnauthorizedClient, UnsupportedResponseType } from '../errors.ts'
import type { AuthorizationResponse } from '../grants/grant.ts'
import { readChallenge } from '../grants/pkce.ts'
import { type Form, requireParam } from '../http/form.ts'
import { parseScope, resolveScopes, type ScopePolicy } from '../scopes.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client } from '../storage/records.ts'
import type { ReceivedRequest } from './expand-request.ts'
import type { SignInDemand } from './fresh-sign-in.ts'
import { type Prompts, readMaxAge, readPrompts } from './prompts.ts'
import { assertSupported, readDetails } from './request-details.ts'
import { type ResponseMode, readResponseMode, responseModeOr } from './response-modes.ts'

/** Longest `state` sent back; a longer one is refused rather than cut. */
export const LONGEST_STATE = 2048

/** Who asks and where the answer goes, proven: from here on errors may be sent there. */
export interface ReturnAddress {
  readonly client: Client
  readonly redirectTo: string
  /** What the request said, null when it left it out. */
  readonly redirectUri: string | null
  readonly state: string | null
  readonly mode: ResponseMode
}

export interface AuthorizationRequest extends ReturnAddress {
  /** What it was read from. */
  readonly received: ReceivedRequest
  readonly response: AuthorizationResponse
  readonly scopes: readonly string[]
  /** What people are asked about: the scopes, and those of which the request asks for a part. */
  readonly shownScopes: readonly string[]
  readonly codeChallenge: string | null
  readonly prompts: Prompts
  readonly signIn: SignInDemand
  readonly details: GrantDetails | null
}

/** Errors here become a page of ours: the address is not proven (threat A1, threat A2). */
export async function requireReturnAddress(
  params: Form,
  context: ServerContext,
): Promise<ReturnAddress> {
  const client = await context.clients.findNamed(requireParam(params, 'client_id'), context)
  if (client) return returnAddressOf(client, params, context)
  throw new InvalidRequest('No application is registered with this client_id')
}

function returnAddressOf(client: Client, params: Form, context: ServerContext): ReturnAddress {
  const redirectUri = params.get('redirect_uri') ?? null
  if (redirectUri !== null) assertRegistered(client, redirectUri)
  const redirectTo = redirectUri ?? onlyRedirectOf(client, params, context)
  const state = params.get('state') ?? null
  const usual = context.responses.get(params.get('response_type') ?? '')?.response.mode ?? 'query'
  const mode = responseModeOr(params, usual, redirectTo)
  const tooLong = state !== null && state.length > LONGEST_STATE
  return { client, redirectTo, redirectUri, state: tooLong ? null : state, mode }
}

/** RFC 6749 §3.1.2.3: where a request without `redirect_uri` is answered, unless a feature wants it named. */
function onlyRedirectOf(client: Client, params: Form, { features }: ServerContext): string {
  const [only, ...others] = client.redirectUris
  const hasOne = only !== undefined && others.length === 0 && redirectProblem(only) === null
  if (hasOne && !features.all.some((feature) => feature.needsRedirectUri?.(params))) return only
  return requireParam(params, 'redirect_uri')
}

function assertRegistered(client: Client, requested: string): void {
  if (client.redirectUris.some((registered) => matchesRedirect(registered, requested))) return
  throw new InvalidRequest('The redirect_uri is not registered for this application', {
    hint: 'It must be identical to the registered one, down to every slash and letter case',
  })
}

/** Errors here are sent to the client. `askedAt`: when the person was sent to sign in for this very request. */
export function parseAuthorizationRequest(
  received: ReceivedRequest,
  address: ReturnAddress,
  askedAt: Date | null,
  context: ServerContext,
): AuthorizationRequest {
  const { client } = address
  const { params, expandedBy } = received
  if ((params.get('state')?.length ?? 0) > LONGEST_STATE) {
    throw new InvalidRequest(`state may have at most ${LONGEST_STATE} characters`)
  }
  assertDemandsMet(client, context)
  assertSupported(params, context)
  const response = requireResponseType(params, client, context)
  const policy: ScopePolicy = {
    defined: context.options.scopeNames,
    client: scopeLimitOf(client, context.options),
    wildcard: 'refused',
  }
  const scopes = resolveScopes(parseScope(params.get('scope')), policy)
  const givesCode = response.type.split(' ').includes('code')
  const codeChallenge = givesCode ? readChallenge(params) : null
  if (givesCode && !client.confidential && codeChallenge === null) {
    throw new InvalidRequest('This client must use PKCE: send a code_challenge with S256')
  }
  const prompts = readPrompts(params)
  const mode = readResponseMode(params, response.mode, address.redirectTo)
  const requested = { client, responseType: response.type, scopes, expandedBy }
  const read = readDetails(params, requested, context)
  return {
    received,
    client,
    redirectTo: address.redirectTo,
    redirectUri: address.redirectUri,
    state: address.state,
    mode,
    response,
    scopes,
    shownScopes: read?.alsoShown ? [...scopes, ...read.alsoShown] : scopes,
    codeChallenge,
    prompts,
    signIn: {
      again: prompts.login,
      maxAge: readMaxAge(params) ?? client.settings.default_max_age ?? null,
      askedAt,
    },
    details: withMode(read, mode, response.mode),
  }
}

function requireResponseType(
  params: Form,
  client: Client,
  context: ServerContext,
): AuthorizationResponse {
  const name = requireParam(params, 'response_type')
  const offered = context.responses.get(name)
  if (!offered) {
    const names = [...context.responses.keys()].join(', ')
    throw new UnsupportedResponseType(`The response_type must be one of: ${names}`)
  }
  const { response_types: registered = [name] } = client.settings
  if (!client.grantTypes.includes(offered.grantType) || !registered.includes(name)) {
    throw new UnauthorizedClient(`This client may not use response_type=${name}`)
  }
  return offered.response
}

/** Kept only where it is not the usual one: the answer may come after a person has decided. */
function withMode(
  details: GrantDetails | null,
  mode: ResponseMode,
  usual: ResponseMode,
): GrantDetails | null {
  return mode === usual ? details : { ...details, responseMode: mode }
}
