import { nameProblem } from '../../clients/parse.ts'
import { selfRegisteredGrants } from '../../clients/self-registered.ts'
import { holdsNoSecret } from '../../clients/settings/checks.ts'
import { type OwnSettings, readSettings } from '../../clients/settings/parse-settings.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidClientMetadata } from '../../errors.ts'
import { parseScope } from '../../scopes.ts'
import type { Client } from '../../storage/records.ts'
import { offeredBy } from './offered.ts'
import { assertReturns, type RedirectPolicy, readRedirects } from './redirects.ts'
import { keepOffered } from './supported.ts'

/** What a client has said of itself, and may have. */
export type DescribedClient = Pick<
  Client,
  'name' | 'redirectUris' | 'grantTypes' | 'scopes' | 'confidential'
> & { readonly settings: OwnSettings }

export interface MetadataRules {
  readonly redirects: RedirectPolicy
  /** Whether it may have no more than it says here. */
  readonly scopes: 'registered' | 'marked'
  /** How it proves itself where it does not say: RFC 7591 §2 has a secret, a document cannot. */
  readonly usualMethod: 'client_secret_basic' | 'none'
}

const LONGEST_SETTINGS = 32_000
/** A client that asks for one of these relies on what we do not do. */
const NOT_OFFERED = /_encrypt(ed_response|ion)_(alg|enc)$|^tls_client_certificate_bound/

/** RFC 7591 §2 and OpenID Connect Registration §2. What nobody here knows is left out, as both ask for. */
export function readMetadata(
  given: Readonly<Record<string, unknown>>,
  rules: MetadataRules,
  context: ServerContext,
): DescribedClient {
  const { settings: said, problems, others } = readSettings(given, context.issuer)
  const unable = others.find((name) => NOT_OFFERED.test(name) && given[name] !== false)
  if (unable !== undefined) throw new InvalidClientMetadata(`${unable} is not offered here`)
  const [problem = said.jwks && withName('jwks', holdsNoSecret(said.jwks))] = problems
  if (problem) throw new InvalidClientMetadata(problem)
  const grantTypes = readGrants(given.grant_types, context)
  const settings = keepOffered(said, rules.usualMethod, offeredBy(context))
  const method = settings.token_endpoint_auth_method ?? rules.usualMethod
  const kind = { grantTypes, confidential: method !== 'none' }
  const redirectUris = readRedirects(given.redirect_uris, kind, rules.redirects, context)
  assertReturns(settings.post_logout_redirect_uris, rules.redirects, context)
  assertResponseTypes(settings, grantTypes)
  if (JSON.stringify(settings).length > LONGEST_SETTINGS) {
    throw new InvalidClientMetadata(`The metadata is longer than ${LONGEST_SETTINGS} characters`)
  }
  return {
    ...kind,
    name: readName(given.client_name, redirectUris),
    redirectUris,
    scopes: readScopes(rules.scopes === 'marked' ? null : given.scope, context),
    // One that says nothing may send its secret either way; one without a secret says so.
    settings: method === 'none' ? { ...settings, token_endpoint_auth_method: 'none' } : settings,
  }
}

function withName(name: string, problem: string | null): string | undefined {
  return problem === null ? undefined : `${name} ${problem}`
}

/** What is not offered now is left out; what such a client never gets is refused. */
function readGrants(given: unknown, { grants }: ServerContext): string[] {
  const list = textsIn('grant_types', given ?? ['authorization_code'])
  const forbidden = list.find((name) => !selfRegisteredGrants.includes(name))
  if (forbidden !== undefined) {
    const names = selfRegisteredGrants.filter((name) => grants.has(name)).join(', ')
    throw new InvalidClientMetadata(`grant_types may hold ${names}`)
  }
  const offered = [...new Set(list)].filter((name) => grants.has(name))
  if (offered.every((name) => name === 'refresh_token')) {
    throw new InvalidClientMetadata('grant_types holds nothing that this client could begin with')
  }
  return offered
}

function assertResponseTypes({ response_types }: OwnSettings, grantTypes: readonly string[]): void {
  const usesCodes = grantTypes.includes('authorization_code')
  const allowed = usesCodes ? ['code'] : []
  const wrong = response_types?.some((name) => !allowed.includes(name))
  const missing = usesCodes && response_types?.length === 0
  if (wrong || missing) {
    throw new InvalidClientMetadata(
      `response_types and grant_types must fit: here ${JSON.stringify(allowed)}`,
    )
  }
}

/** People read it, so it is checked like every name; without one they read where they will be sent. */
function readName(given: unknown, redirectUris: readonly string[]): string {
  if (given === undefined || given === null) {
    const [first] = redirectUris
    const url = first !== undefined && URL.canParse(first) ? new URL(first) : null
    return url ? url.host || url.protocol : 'An application without a name'
  }
  const problem = typeof given === 'string' ? nameProblem(given) : 'It must be a text.'
  if (problem === null) return String(given)
  throw new InvalidClientMetadata(`client_name: ${problem}`)
}

/** Of those marked for such clients; what is not marked is left out, and the answer says so. */
function readScopes(given: unknown, { options }: ServerContext): string[] {
  const marked = [...options.selfRegisteredScopes]
  if (given === undefined || given === null) return marked
  if (typeof given !== 'string') throw new InvalidClientMetadata('scope must be a text')
  const asked = parseScope(given)
  const allowed = marked.filter((name) => asked.includes(name))
  if (asked.length > 0 && allowed.length === 0) {
    throw new InvalidClientMetadata(
      'scope holds none that clients may have that register themselves',
    )
  }
  return allowed
}

export function textsIn(name: string, value: unknown): string[] {
  if (Array.isArray(value) && value.length <= 50 && value.every((each) => typeof each === 'string'))
    return value
  throw new InvalidClientMetadata(`${name} must be a list of texts`)
}
