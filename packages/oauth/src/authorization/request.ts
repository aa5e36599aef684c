import { findRedirectProblem, matchesRedirect } from '../clients/redirect-uris.ts'
import { assertClientRequirementsMet } from '../clients/settings/demands.ts'
import type { ServerContext } from '../context.ts'
import { InvalidRequest, UnauthorizedClient, UnsupportedResponseType } from '../errors.ts'
import type { AuthorizationResponse } from '../grants/grant.ts'
import { readCodeChallenge } from '../grants/pkce.ts'
import { withDefaultScopes } from '../grants/requested-share.ts'
import { type Form, requireParam } from '../http/form.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client } from '../storage/records.ts'
import type { ReceivedAuthorizationRequest } from './expand-request.ts'
import type { SignInDemand } from './fresh-sign-in.ts'
import { assertParametersSupported, readGrantDetails } from './request-details.ts'
import { type ResponseMode, readResponseMode, readResponseModeOrDefault } from './response-modes.ts'

/**
 * Maximum length of the `state` parameter, in characters. Requests with a longer one are rejected.
 */
export const MAX_STATE_LENGTH = 2048

/**
 * The client and its redirect URI, after the URI was found to be registered for this client. Errors
 * may then be sent to that URI.
 */
export interface ResponseTarget {
  readonly client: Client
  readonly redirectTo: string
  /** The `redirect_uri` of the request. `null` if it had none. */
  readonly redirectUri: string | null
  readonly state: string | null
  readonly mode: ResponseMode
}

export interface AuthorizationRequest extends ResponseTarget {
  /** The parameters of the authorization request as received. */
  readonly received: ReceivedAuthorizationRequest
  readonly response: AuthorizationResponse
  readonly scopes: readonly string[]
  /**
   * Scopes shown to the person: the requested ones, and those that individually requested claims
   * belong to.
   */
  readonly shownScopes: readonly string[]
  readonly codeChallenge: string | null
  readonly prompts: Prompts
  readonly signIn: SignInDemand
  readonly details: GrantDetails | null
}

/**
 * Determines the client and the redirect URI of an authorization request. Errors thrown here are
 * shown as a page instead of a redirect, because the redirect URI may not belong to the client
 * (threat A1, threat A2).
 */
export async function requireResponseTarget(
  params: Form,
  context: ServerContext,
): Promise<ResponseTarget> {
  const client = await context.clients.findNamed(requireParam(params, 'client_id'), context)
  if (client) return readResponseTarget(client, params, context)
  throw new InvalidRequest('No application is registered with this client_id')
}

function readResponseTarget(client: Client, params: Form, context: ServerContext): ResponseTarget {
  const redirectUri = params.get('redirect_uri') ?? null
  if (redirectUri !== null) assertRegistered(client, redirectUri)
  const redirectTo = redirectUri ?? requireSingleRedirect(client, params, context)
  const state = params.get('state') ?? null
  const usual = context.responses.get(params.get('response_type') ?? '')?.response.mode ?? 'query'
  const mode = readResponseModeOrDefault(params, usual, redirectTo)
  const tooLong = state !== null && state.length > MAX_STATE_LENGTH
  return { client, redirectTo, redirectUri, state: tooLong ? null : state, mode }
}

/**
 * Returns the redirect URI of a request that names none: the client's only registered one (RFC 6749
 * §3.1.2.3), unless a feature requires the parameter.
 */
function requireSingleRedirect(client: Client, params: Form, { features }: ServerContext): string {
  const [only, ...others] = client.redirectUris
  const hasOne = only !== undefined && others.length === 0 && findRedirectProblem(only) === null
  if (hasOne && !features.all.some((feature) => feature.needsRedirectUri?.(params))) return only
  return requireParam(params, 'redirect_uri')
}

function assertRegistered(client: Client, requested: string): void {
  if (client.redirectUris.some((registered) => matchesRedirect(registered, requested))) return
  throw new InvalidRequest('The redirect_uri is not registered for this application', {
    hint: 'It must match the registered one exactly, including every slash and letter case',
  })
}

/**
 * Parses the parameters of an authorization request whose client and redirect URI are known. Errors
 * thrown here are sent to the client. `askedAt` is the time at which the person was redirected to
 * sign in for this request, or `null`.
 */
export function parseAuthorizationRequest(
  received: ReceivedAuthorizationRequest,
  address: ResponseTarget,
  askedAt: Date | null,
  context: ServerContext,
): AuthorizationRequest {
  const { client } = address
  const { params, expandedBy } = received
  if ((params.get('state')?.length ?? 0) > MAX_STATE_LENGTH) {
    throw new InvalidRequest(`state may have at most ${MAX_STATE_LENGTH} characters`)
  }
  assertClientRequirementsMet(client, context)
  assertParametersSupported(params, context)
  const response = requireResponseType(params, client, context)
  const named = context.resolveScopes(params.get('scope'), client)
  const scopes = withDefaultScopes(named, { client, params }, context)
  const givesCode = response.type.split(' ').includes('code')
  const codeChallenge = givesCode ? readCodeChallenge(params) : null
  if (givesCode && !client.confidential && codeChallenge === null) {
    throw new InvalidRequest('This client must use PKCE: send a code_challenge with S256')
  }
  const prompts = readPrompts(params)
  const mode = readResponseMode(params, response.mode, address.redirectTo)
  const requested = { client, responseType: response.type, scopes, expandedBy }
  const read = readGrantDetails(params, requested, context)
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
    details: storeResponseMode(read, mode, response.mode),
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

/**
 * Stores the response mode if it is not the default one: the response may be sent after the person
 * has decided.
 */
function storeResponseMode(
  details: GrantDetails | null,
  mode: ResponseMode,
  defaultMode: ResponseMode,
): GrantDetails | null {
  return mode === defaultMode ? details : { ...details, responseMode: mode }
}

/** The effect of the `prompt` parameter (OpenID Connect Core §3.1.2.1). */
interface Prompts {
  /** Whether no page may be shown. */
  readonly none: boolean
  /**
   * Whether the approval screen is shown even if the person has approved the same request before.
   */
  readonly consent: boolean
  /** Whether the person has to sign in again. */
  readonly login: boolean
}

const KNOWN: readonly string[] = ['none', 'consent', 'login', 'select_account']

export function readPrompts(params: Form): Prompts {
  const names = (params.get('prompt') ?? '').split(' ').filter((name) => name !== '')
  const unknown = names.find((name) => !KNOWN.includes(name))
  if (unknown !== undefined) {
    throw new InvalidRequest(
      'prompt must be none, or one or more of consent, login, select_account',
    )
  }
  if (names.includes('none') && names.length > 1) {
    throw new InvalidRequest('prompt=none cannot be combined with another value')
  }
  return {
    none: names.includes('none'),
    consent: names.includes('consent'),
    // A browser has only one session, so choosing another account means signing in with it.
    login: names.includes('login') || names.includes('select_account'),
  }
}

/** Reads `max_age` in seconds. `null` if it was not sent. */
export function readMaxAge(params: Form): number | null {
  const text = params.get('max_age')
  if (text === undefined) return null
  if (!/^\d{1,9}$/.test(text)) throw new InvalidRequest('max_age must be a number of seconds')
  return Number(text)
}
