import {
  type AccessTokenType,
  type FrontChannelType,
  type IdentityAssertionOptions,
  type IdentityScope,
  jwtBearer,
  jwtClientAuthentication,
  type McpServerOptions,
  type RegistrationPolicy,
  type ResourceOptions,
  type SigningAlgorithm,
  signingAlgorithms,
  type TrustedIssuer,
} from '@tollgate/oauth'
import { z } from 'zod'
import { isHost } from './addresses.ts'
import { certificates, network } from './outgoing.ts'

/** Clients that nobody here has registered. */
export interface SelfRegisteredSettings {
  /** Who may register one: nobody, whoever has a token of `TOLLGATE_INITIAL_ACCESS_TOKENS`, or everybody. */
  readonly policy: RegistrationPolicy
  /** Whether a `client_id` may be the address of a document that describes it; a list: only on these hosts. */
  readonly documents: boolean | readonly string[]
  /** The scopes that such clients may ask people for. */
  readonly scopes: readonly string[]
  /** The APIs that they get tokens for, of `resources` and `mcpServers`; null: all, and `/api` of the service. */
  readonly resources: readonly string[] | null
}

/** How the service asks at addresses that clients have told it. */
export interface OutgoingSettings {
  /** Addresses and networks that it may ask though they are not public. */
  readonly privateAddresses: readonly string[]
  /** Certificates to trust beside those of Node, as PEM. */
  readonly certificates: readonly string[]
}

/** What the service does beside the first edition of OAuth 2.0. */
export interface StandardSettings {
  /** What ID tokens are signed with, unless a client wants another. */
  readonly idTokenAlgorithm: SigningAlgorithm
  /** Whether ID tokens say what the scopes tell, for clients that never ask UserInfo. */
  readonly claimsInIdToken: boolean
  /** The scopes that tell something of a person; `address` and `phone` need `claims`. */
  readonly identityScopes: readonly IdentityScope[]
  /** Response types that give an ID token at the authorization endpoint (hybrid and implicit). */
  readonly responseTypes: readonly FrontChannelType[]
  /** Clients that register themselves; null: open in a demo on this machine, else closed. */
  readonly selfRegistered: SelfRegisteredSettings | null
  /** Whether the approval screen shows logos, of clients that somebody here has registered or verified. */
  readonly clientLogos: boolean
  /** Whether clients may prove themselves by a JWT (RFC 7523): by a key, or by a shared secret as well. */
  readonly clientAssertions: boolean | 'shared-secrets'
  /** The longest time until such a JWT expires, `'1h'` at most. */
  readonly clientAssertionsExpireIn: string | number
  /** Whether clients may push their requests first (RFC 9126), or must. */
  readonly pushedRequests: boolean | 'required'
  /** Whether clients may sign their requests (RFC 9101), or must. */
  readonly requestObjects: boolean | 'required'
  /** Whether signed requests may lie at an address of the client, and are fetched from there. */
  readonly requestObjectsByReference: boolean
  /** Whether request objects may come without a signature. */
  readonly unsignedRequestObjects: boolean
  /** Whether clients may bind tokens to their key (RFC 9449), or must. */
  readonly dpop: boolean | 'required'
  /** Whether DPoP proofs have to carry a nonce of this service. */
  readonly dpopNonces: boolean
  /** How often `/api` takes a DPoP proof: once of all processes together, or once in each. */
  readonly dpopGuardReplays: 'everywhere' | 'process'
  /** Whether every client is held to the FAPI 2.0 Security Profile. */
  readonly fapi2: boolean
  /** Whether access tokens say how people had signed in, so APIs can demand something of it (RFC 9470). */
  readonly stepUp: boolean
  /** Whether APIs may have introspection as a JWT (RFC 9701). */
  readonly signedIntrospection: boolean
  /** How the service asks at addresses that clients have told it. */
  readonly outgoing: OutgoingSettings
  /** What access tokens are signed with; a change is published before it signs. */
  readonly signingAlgorithm: SigningAlgorithm
  /** `typ` of access tokens. */
  readonly tokenType: AccessTokenType
  /** Other APIs that tokens are for, by the address that clients send as `resource`. */
  readonly resources: Readonly<Record<string, ResourceOptions>> | null
  /** MCP servers that tokens are for, by the address that people type into their client. */
  readonly mcpServers: Readonly<Record<string, McpServerOptions>> | null
  /**
   * Other issuers whose assertions are exchanged for access tokens (RFC 7523). With `emailDomains` and without
   * `userByEmail`, people are found by the e-mail address of their account, which needs `registration: false`.
   */
  readonly trustedIssuers: readonly TrustedIssuer[]
  /** Other authorization servers, by their issuers, that clients may exchange an ID token for an assertion for. */
  readonly identityAssertions: Readonly<Record<string, IdentityAssertionOptions>> | null
}

/** As they are written in `tollgate.config.ts`. */
export type StandardSettingsInput = Partial<
  Omit<StandardSettings, 'selfRegistered' | 'outgoing'>
> & {
  /** Clients that register themselves; what is left out is closed. */
  readonly selfRegistered?: Partial<SelfRegisteredSettings> | null
  /** How the service asks at addresses that clients have told it. */
  readonly outgoing?: Partial<OutgoingSettings>
}

export const registrationPolicies = ['closed', 'initial-access-token', 'open'] as const
export const algorithms = signingAlgorithms as [SigningAlgorithm, ...SigningAlgorithm[]]
export const identityScopes = [
  'profile',
  'email',
  'address',
  'phone',
  'groups',
] as const satisfies readonly IdentityScope[]
export const responseTypes = [
  'id_token',
  'id_token token',
  'code id_token',
  'code token',
  'code id_token token',
] as const satisfies readonly FrontChannelType[]
export const guardReplays = ['everywhere', 'process'] as const
export const tokenTypes = ['at+jwt', 'JWT'] as const satisfies readonly AccessTokenType[]

const hosts = z.array(
  z.string().refine(isHost, { message: 'expected a host such as app.example.com' }),
)
const offered = z.union([z.boolean(), z.literal('required')], {
  error: "expected true, false or 'required'",
})

/** What `jwtClientAuthentication()` of `@tollgate/oauth` checks too; here it is said with the setting's own name. */
export const assertionLife = z.union([z.string(), z.number()]).refine(
  (value) => {
    try {
      jwtClientAuthentication({ assertionsExpireIn: value })
      return true
    } catch {
      return false
    }
  },
  { message: "expects an hour at most, such as '10m' or 600 seconds" },
)

export const selfRegisteredShape = z.strictObject({
  policy: z
    .enum(registrationPolicies, { error: `expected ${registrationPolicies.join(', ')}` })
    .default('closed'),
  documents: z.union([z.boolean(), hosts]).default(false),
  scopes: z.array(z.string()).default([]),
  resources: z.array(z.string()).nullable().default(null),
})

export const outgoingShape = z.strictObject({
  privateAddresses: z.array(network).default([]),
  certificates,
})

/** Of the settings' own shape: each is checked there, and told by its name. */
export const standardShapes = {
  idTokenAlgorithm: z.enum(algorithms).default('RS256'),
  claimsInIdToken: z.boolean().default(true),
  identityScopes: z
    .array(z.enum(identityScopes, { error: `expected ${identityScopes.join(', ')}` }))
    .default(['profile', 'email']),
  responseTypes: z
    .array(z.enum(responseTypes, { error: `expected ${responseTypes.join(', ')}` }))
    .default([]),
  selfRegistered: selfRegisteredShape.nullable().default(null),
  clientLogos: z.boolean().default(true),
  clientAssertions: z
    .union([z.boolean(), z.literal('shared-secrets')], {
      error: "expected true, false or 'shared-secrets'",
    })
    .default(true),
  clientAssertionsExpireIn: assertionLife.default('1h'),
  pushedRequests: offered.default(true),
  requestObjects: offered.default(true),
  requestObjectsByReference: z.boolean().default(false),
  unsignedRequestObjects: z.boolean().default(false),
  dpop: offered.default(true),
  dpopNonces: z.boolean().default(false),
  dpopGuardReplays: z
    .enum(guardReplays, { error: `expected ${guardReplays.join(' or ')}` })
    .default('everywhere'),
  fapi2: z.boolean().default(false),
  stepUp: z.boolean().default(false),
  signedIntrospection: z.boolean().default(false),
  outgoing: outgoingShape.prefault({}),
  signingAlgorithm: z.enum(algorithms).default('ES256'),
  tokenType: z.enum(tokenTypes).default('at+jwt'),
  resources: z
    .record(
      z.string(),
      z.custom<ResourceOptions>((value) => typeof value === 'object'),
    )
    .nullable()
    .default(null),
  mcpServers: z
    .record(
      z.string(),
      z.custom<McpServerOptions>(hasScopes, { error: 'expected { scopes: […] }' }),
    )
    .nullable()
    .default(null),
  trustedIssuers: z.array(z.custom<TrustedIssuer>().superRefine(checkIssuer)).default([]),
  identityAssertions: z
    .record(
      z.string(),
      z.custom<IdentityAssertionOptions>(hasScopes, {
        error: 'expected { clients, scopes, resources }',
      }),
    )
    .nullable()
    .default(null),
}

/** Checks an issuer as `jwtBearer()` does, so that a problem is told with the name of the setting. */
function checkIssuer(issuer: TrustedIssuer, context: z.RefinementCtx): void {
  try {
    jwtBearer({ issuers: [withLookup(issuer, () => null)] })
  } catch (error) {
    const problem = error instanceof TypeError ? error.message : 'expected { issuer, jwksUri, … }'
    context.addIssue({ code: 'custom', message: problem.replace(/^jwtBearer: /, '') })
  }
}

/** The issuer with a lookup by e-mail address, where it may vouch for addresses and has none of its own. */
export function withLookup(
  issuer: TrustedIssuer,
  userByEmail: NonNullable<TrustedIssuer['userByEmail']>,
): TrustedIssuer {
  return looksUpAccounts(issuer) ? { ...issuer, userByEmail } : issuer
}

/** Whether the accounts of the service are looked up by e-mail address for this issuer. */
export function looksUpAccounts({ emailDomains, userByEmail }: TrustedIssuer): boolean {
  return emailDomains !== undefined && userByEmail === undefined
}

function hasScopes(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'scopes' in value
}
