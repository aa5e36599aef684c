import { findNameProblem } from '../../clients/parse.ts'
import { selfRegisteredGrants } from '../../clients/self-registered.ts'
import { checkNoPrivateKey } from '../../clients/settings/checks.ts'
import { readSettings } from '../../clients/settings/parse-settings.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidClientMetadata } from '../../errors.ts'
import { parseScope } from '../../scopes.ts'
import type { ConfigurableClientSettings } from '../../storage/client-settings.ts'
import type { Client } from '../../storage/records.ts'
import { assertPostLogoutRedirects, type RedirectPolicy, readRedirects } from './redirects.ts'
import { keepSupportedSettings, readSupportedSettings } from './supported.ts'

/** The fields of a client, read from valid client metadata. */
export type ValidatedClientMetadata = Pick<
  Client,
  'name' | 'redirectUris' | 'grantTypes' | 'scopes' | 'confidential'
> & { readonly settings: ConfigurableClientSettings }

export interface MetadataRules {
  readonly redirects: RedirectPolicy
  /**
   * `registered`: the client may request only the scopes in its metadata. `marked`: all scopes of
   * the option `selfRegistered`.
   */
  readonly scopes: 'registered' | 'marked'
  /**
   * Authentication method of clients whose metadata names none: `client_secret_basic` for
   * registration (RFC 7591 §2), `none` for metadata documents.
   */
  readonly defaultMethod: 'client_secret_basic' | 'none'
}

const MAX_SETTINGS_LENGTH = 32_000
/**
 * Metadata members that request a feature this server does not have. They are rejected, because the
 * client would rely on the feature.
 */
const UNSUPPORTED = /_encrypt(ed_response|ion)_(alg|enc)$|^tls_client_certificate_bound/

/**
 * Validates client metadata (RFC 7591 §2, OpenID Connect Registration §2). Unknown members are
 * ignored, as both specifications require.
 * @throws InvalidClientMetadata or InvalidRedirectUri
 */
export function readClientMetadata(
  sentMetadata: Readonly<Record<string, unknown>>,
  rules: MetadataRules,
  context: ServerContext,
): ValidatedClientMetadata {
  const { settings: givenSettings, problems, others } = readSettings(sentMetadata, context.issuer)
  const unable = others.find((name) => UNSUPPORTED.test(name) && sentMetadata[name] !== false)
  if (unable !== undefined)
    throw new InvalidClientMetadata(`${unable} is not supported by this server`)
  const [problem = givenSettings.jwks && withName('jwks', checkNoPrivateKey(givenSettings.jwks))] =
    problems
  if (problem) throw new InvalidClientMetadata(problem)
  const grantTypes = readGrants(sentMetadata.grant_types, context)
  const settings = keepSupportedSettings(
    givenSettings,
    rules.defaultMethod,
    readSupportedSettings(context),
  )
  const method = settings.token_endpoint_auth_method ?? rules.defaultMethod
  const kind = { grantTypes, confidential: method !== 'none' }
  const redirectUris = readRedirects(sentMetadata.redirect_uris, kind, rules.redirects, context)
  assertPostLogoutRedirects(settings.post_logout_redirect_uris, rules.redirects, context)
  assertResponseTypes(settings, grantTypes)
  if (JSON.stringify(settings).length > MAX_SETTINGS_LENGTH) {
    throw new InvalidClientMetadata(`The metadata is longer than ${MAX_SETTINGS_LENGTH} characters`)
  }
  return {
    ...kind,
    name: readName(sentMetadata.client_name, redirectUris),
    redirectUris,
    scopes: readScopes(rules.scopes === 'marked' ? null : sentMetadata.scope, context),
    // Without a setting, a client may send its secret in the header or in the body. A client
    // without a secret needs the explicit `none`.
    settings: method === 'none' ? { ...settings, token_endpoint_auth_method: 'none' } : settings,
  }
}

function withName(name: string, problem: string | null): string | undefined {
  return problem === null ? undefined : `${name} ${problem}`
}

/**
 * Reads the grant types. Those that are not enabled are dropped; those that
 * self-registered clients can never have are rejected.
 */
function readGrants(rawGrants: unknown, { grants }: ServerContext): string[] {
  const list = readStrings('grant_types', rawGrants ?? ['authorization_code'])
  const forbidden = list.find((name) => !selfRegisteredGrants.includes(name))
  if (forbidden !== undefined) {
    const names = selfRegisteredGrants.filter((name) => grants.has(name)).join(', ')
    throw new InvalidClientMetadata(`grant_types may contain only ${names}`)
  }
  const offered = [...new Set(list)].filter((name) => grants.has(name))
  if (offered.every((name) => name === 'refresh_token')) {
    throw new InvalidClientMetadata(
      'grant_types must contain a supported grant other than refresh_token',
    )
  }
  return offered
}

function assertResponseTypes(
  { response_types }: ConfigurableClientSettings,
  grantTypes: readonly string[],
): void {
  const usesCodes = grantTypes.includes('authorization_code')
  const allowed = usesCodes ? ['code'] : []
  const wrong = response_types?.some((name) => !allowed.includes(name))
  const missing = usesCodes && response_types?.length === 0
  if (wrong || missing) {
    throw new InvalidClientMetadata(
      `response_types must match grant_types: expected ${JSON.stringify(allowed)}`,
    )
  }
}

/**
 * Reads the name that people see, checked like every name. If there is none, they see the host or
 * scheme of the redirect URI instead.
 */
function readName(sentName: unknown, redirectUris: readonly string[]): string {
  if (sentName === undefined || sentName === null) {
    const [first] = redirectUris
    const url = first !== undefined && URL.canParse(first) ? new URL(first) : null
    return url ? url.host || url.protocol : 'An application without a name'
  }
  const problem = typeof sentName === 'string' ? findNameProblem(sentName) : 'It must be a string.'
  if (problem === null) return String(sentName)
  throw new InvalidClientMetadata(`client_name: ${problem}`)
}

/**
 * Reads the scopes, limited to the option `selfRegistered`. Other scopes are dropped; the response
 * lists the remaining ones.
 */
function readScopes(rawScopes: unknown, { options }: ServerContext): string[] {
  const marked = [...options.selfRegisteredScopes]
  if (rawScopes === undefined || rawScopes === null) return marked
  if (typeof rawScopes !== 'string') throw new InvalidClientMetadata('scope must be a string')
  const asked = parseScope(rawScopes)
  const allowed = marked.filter((name) => asked.includes(name))
  if (asked.length > 0 && allowed.length === 0) {
    throw new InvalidClientMetadata(
      'scope contains no scope that is available to self-registered clients',
    )
  }
  return allowed
}

export function readStrings(name: string, value: unknown): string[] {
  if (Array.isArray(value) && value.length <= 50 && value.every((each) => typeof each === 'string'))
    return value
  throw new InvalidClientMetadata(`${name} must be a list of strings`)
}
