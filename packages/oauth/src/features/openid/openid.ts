import type { ServerContext } from '../../context.ts'
import { InvalidRequest } from '../../errors.ts'
import type { TokenEndpointRequest } from '../../grants/grant.ts'
import { TOKEN_EXCHANGE_GRANT_TYPE } from '../../grants/token-exchange.ts'
import { parseScope } from '../../scopes.ts'
import type { Feature } from '../feature.ts'
import { listOfferedClaims, listOfferedScopes, listRequestedClaimScopes } from './claims.ts'
import {
  listAcceptedClaimValues,
  listRequiredAcrValues,
  parseClaimsRequest,
} from './claims-request.ts'
import { createFrontChannelResponses } from './front-channel.ts'
import { readIdTokenHint } from './hint.ts'
import { createIdToken, listOfferedIdTokenAlgorithms } from './id-token.ts'
import { exchangeIdToken, ID_JAG_TOKEN_TYPE } from './identity-assertion.ts'
import { createLogoutSupport } from './logout-parts.ts'
import { type OpenIdOptions, type OpenIdSettings, resolveOpenIdOptions } from './settings.ts'
import { chooseSubjectForClient } from './subject.ts'
import { createUserinfoEndpoint } from './userinfo.ts'

/** Longest accepted `nonce`. It is stored in a row and in a token. */
const MAX_NONCE_LENGTH = 1024

/**
 * Adds OpenID Connect: ID tokens for requests with the scope `openid`, UserInfo with the claims
 * from `users.claims()`, and discovery.
 * @example
 * createAuthorizationServer({
 *   …, grants: [authorizationCode(), refreshToken()], features: [openid()],
 *   users: { …, claims: ({ name, email }) => ({ name, email, email_verified: true }) },
 * })
 */
export function openid(options: OpenIdOptions = {}): Feature {
  const settings = resolveOpenIdOptions(options)
  const endpoint = createUserinfoEndpoint(settings)
  const logout = settings.logout && createLogoutSupport(settings, settings.logout)
  const scopes = listOfferedScopes(settings.scopes)
  const issuesAssertions = settings.assertionAudiences.size > 0
  return {
    name: 'openid',
    scopes,
    // Refresh tokens are issued even without `offline_access`, so a checkbox for it would have no
    // effect.
    requiredScopes: ['openid', 'offline_access'],
    algorithms: settings.algorithms,
    routes: [
      { method: 'GET', path: '/userinfo', endpoint, openTo: 'clients' },
      { method: 'POST', path: '/userinfo', endpoint, openTo: 'clients', needsClock: false },
      ...(logout?.routes ?? []),
    ],
    ...logout?.hooks,
    start(context: ServerContext) {
      assertTokens(settings, context)
      assertAudiences(settings, context)
      return logout?.hooks.start?.(context) ?? (() => {})
    },
    responses: createFrontChannelResponses(settings, logout),
    ...(issuesAssertions && {
      exchanges: {
        [ID_JAG_TOKEN_TYPE]: {
          issue: (request: TokenEndpointRequest, context: ServerContext) =>
            exchangeIdToken(request, settings, context),
        },
      },
    }),
    metadataPaths: discoveryPaths,
    metadata: (context: ServerContext) => ({
      userinfo_endpoint: addressOf('/userinfo', context),
      subject_types_supported: settings.pairwiseKey ? ['public', 'pairwise'] : ['public'],
      id_token_signing_alg_values_supported: listOfferedIdTokenAlgorithms(settings, context),
      userinfo_signing_alg_values_supported: listOfferedIdTokenAlgorithms(settings, context),
      ...(settings.acrValues.length > 0 && { acr_values_supported: settings.acrValues }),
      claim_types_supported: ['normal'],
      claims_supported: listOfferedClaims(settings.scopes),
      claims_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
      ...(logout && {
        end_session_endpoint: addressOf('/logout', context),
        backchannel_logout_supported: true,
        backchannel_logout_session_supported: true,
      }),
      ...(issuesAssertions && {
        identity_chaining_requested_token_types_supported: [ID_JAG_TOKEN_TYPE],
      }),
    }),
    // Required by OpenID Connect Core §3.1.2.1.
    needsRedirectUri: (params) => parseScope(params.get('scope')).includes('openid'),
    requestParameters: ['nonce', 'claims', 'acr_values', 'id_token_hint'],
    readRequest(params, { client, scopes: asked, responseType }) {
      if (!asked.includes('openid')) return null
      const nonce = params.get('nonce')
      if (nonce !== undefined && nonce.length > MAX_NONCE_LENGTH) {
        throw new InvalidRequest(`nonce may have at most ${MAX_NONCE_LENGTH} characters`)
      }
      if (nonce === undefined && responseType.includes('id_token')) {
        throw new InvalidRequest(`response_type=${responseType} needs a nonce`)
      }
      const text = params.get('claims')
      const claims = text === undefined ? undefined : parseClaimsRequest(text)
      const requestedAcr = params.get('acr_values')?.split(' ') ?? listRequiredAcrValues(claims)
      const acrValues = requestedAcr ?? client.settings.default_acr_values
      const alsoShown = claims
        ? listRequestedClaimScopes(claims).filter((name) => name in scopes && !asked.includes(name))
        : []
      return {
        ...(nonce !== undefined && { nonce }),
        ...(claims && { claims }),
        ...(alsoShown.length > 0 && { alsoShown }),
        ...(acrValues && { acrValues }),
      }
    },
    acceptsPerson(params, client, person, context: ServerContext) {
      const sub = chooseSubjectForClient(client, person.id, settings)
      const hint = params.get('id_token_hint')
      if (hint !== undefined) {
        const meant = readIdTokenHint(hint, context)
        if (!meant) throw new InvalidRequest('The id_token_hint is not an ID token of this server')
        if (meant.sub !== sub) return false
      }
      const asked = params.get('claims')
      if (asked === undefined) return true
      const claims = parseClaimsRequest(asked)
      const isMeant = listAcceptedClaimValues(claims.id_token?.sub)?.includes(sub) ?? true
      return isMeant && (listRequiredAcrValues(claims)?.includes(person.acr ?? '') ?? true)
    },
    subjectFor: (client, userId) =>
      client.settings.subject_type === 'pairwise'
        ? chooseSubjectForClient(client, userId, settings)
        : null,
    async extendTokenResponse({ token, scopes, accessToken }, context: ServerContext) {
      const { userId, details } = token
      if (!details || userId === null || !scopes.includes('openid')) return {}
      const client = await context.clients.find(token.clientId)
      if (!client) return {}
      const isFirst = token.generation === 0
      const nonce = isFirst ? details.nonce : undefined
      const withScopes = client.settings.claims_in_id_token ?? settings.claimsInIdToken
      const request = { client, userId, scopes, details, nonce, accessToken, withScopes }
      const sessionClient = { client, userId, signIn: details.signIn, isFirst }
      const [id_token] = await Promise.all([
        createIdToken(request, settings, context),
        logout?.record(sessionClient, context),
      ])
      return { id_token }
    },
  }
}

/**
 * Requires the grants that the response types are made of.
 * @throws TypeError
 */
function assertTokens({ responseTypes }: OpenIdSettings, { grants }: ServerContext): void {
  const type = responseTypes.find((name) => name.split(' ').includes('token'))
  if (type === undefined || grants.has('implicit')) return
  throw new TypeError(`openid: responseTypes has '${type}', which needs implicit() in grants.`)
}

/**
 * Checks `identityAssertions`. If this server were an audience, an assertion would give more access
 * here than the person approved.
 * @throws TypeError
 */
function assertAudiences(
  { assertionAudiences }: OpenIdSettings,
  { issuer, grants }: ServerContext,
): void {
  if (assertionAudiences.has(issuer)) {
    throw new TypeError('openid: identityAssertions must not contain the issuer of this server.')
  }
  if (assertionAudiences.size > 0 && !grants.has(TOKEN_EXCHANGE_GRANT_TYPE)) {
    throw new TypeError('openid: identityAssertions needs tokenExchange() in grants.')
  }
}

const addressOf = (path: string, { options }: ServerContext) =>
  `${options.issuerUrl.origin}${options.basePath}${path}`

/**
 * Paths of the metadata. OpenID Connect Discovery §4 puts the well-known segment last, RFC 8414
 * §3.1 first; clients use both.
 */
function discoveryPaths({ pathname }: URL): readonly string[] {
  const path = pathname === '/' ? '' : pathname
  const names = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']
  return [...new Set(names.flatMap((name) => [`${path}${name}`, `${name}${path}`]))]
}
