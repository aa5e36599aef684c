import type { WebhookHandlers } from '@tollgate/billing'
import {
  type AccessTokenClaimsOption,
  type AccessTokenFormatName,
  type AccessTokenType,
  type FrontChannelResponseType,
  type IdentityAssertionOptions,
  type IdentityScope,
  type McpServerOptions,
  type RegistrationPolicy,
  type ResourceOptions,
  signingAlgorithms,
  type TrustedIssuer,
  type UserClaims,
} from '@tollgate/oauth'
import { z } from 'zod'
import type { User } from '../users/user.ts'
import {
  callable,
  caution,
  defaulted,
  flag,
  flagOr,
  list,
  note,
  oneOf,
  recordOf,
  setting,
  someOf,
  variable,
} from './row.ts'
import * as shapes from './shapes.ts'
import * as read from './values.ts'

const STANDARD_WEBHOOK_SECRET = 'echo "whsec_$(openssl rand -base64 32)"'
const ADVISED_AGAINST = { check: 'grants' } as const
const REQUESTS = { check: 'requests' } as const
const PROVIDERS = { check: 'providers' } as const

/**
 * Every setting of the service. Names in capitals are environment variables; other names are keys
 * of `tollgate.config.ts`. A key with a parser for text can also be set by a variable:
 * `passwordGrant` by `TOLLGATE_PASSWORD_GRANT`. The comments are the hovers in a
 * `tollgate.config.ts` and the sentences of docs/reference/service.md, which `npm run
 * docs:settings` updates.
 */
export const table = {
  /** Set to `production` to run the service in production mode instead of as a demo. */
  NODE_ENV: variable(read.text),
  /** The port to listen on. 0 picks a free one. */
  PORT: defaulted(read.wholeNumberInRange(0, 65_535), [3000]),
  /** The address to listen on. */
  HOST: defaulted(read.text, ['127.0.0.1', '0.0.0.0']),
  /**
   * The database: `postgres://…`, `mysql://…`, `mariadb://…` or `sqlite:<file>`.
   * @default `sqlite:<data folder>/tollgate.db` in a demo; required in production
   */
  DATABASE_URL: variable(read.databaseUrl, {
    hint: 'postgres://…, mysql://… or sqlite:/path/to/file.db',
    check: 'database',
  }),
  /**
   * The folder where a demo keeps its secret, database and sandbox. Only one demo can use it at a
   * time: a second one fails and names the address of the first.
   */
  TOLLGATE_DATA_DIR: defaulted(read.text, ['.tollgate']),
  /**
   * At least 32 random characters, which protect keys, tokens and cookies.
   * @default generated once in a demo; required in production
   */
  TOLLGATE_SECRET: variable(read.secret, {
    hint: '32 random characters or more: openssl rand -base64 32',
    check: 'keys',
  }),
  /** The previous secret, during [a rotation](../guides/operations.md#the-secret). */
  TOLLGATE_PREVIOUS_SECRET: variable(read.secret, { check: 'secret' }),
  /**
   * The next secret during a rotation: every process accepts what it signs, but none signs with it
   * yet.
   */
  TOLLGATE_NEXT_SECRET: variable(read.secret, { check: 'secret' }),
  /**
   * The public base URL, which is also the issuer.
   * @default `http://localhost:<PORT>` in a demo; required in production
   */
  TOLLGATE_URL: variable(read.origin, {
    hint: 'the public URL, e.g. https://api.example.com',
    check: 'issuer',
  }),
  /**
   * The path of another configuration file.
   * @default `tollgate.config.ts`, `.mjs` or `.js` in the working folder
   */
  TOLLGATE_CONFIG: variable(read.text, { check: 'configuration' }),
  /**
   * At least 32 random characters that never change. Clients with `subject_type` `pairwise` know
   * people by [ids that no other client
   * knows](../guides/openid.md#names-that-no-other-client-knows). Without a salt, these clients
   * are rejected.
   * @default none
   */
  TOLLGATE_PAIRWISE_SALT: variable(read.secret, { check: 'openid' }),
  /** The policy for [registering clients](#clients-that-register-themselves): `closed`, `initial-access-token` or `open`. */
  TOLLGATE_CLIENT_REGISTRATION: variable(
    read.oneOf<RegistrationPolicy>(['closed', 'initial-access-token', 'open']),
    { overrides: 'selfRegistered.policy', check: 'registration' },
  ),
  /**
   * Tokens for registering a client under the policy `initial-access-token`: at least 32 random
   * characters each, separated by commas.
   */
  TOLLGATE_INITIAL_ACCESS_TOKENS: variable(read.secrets, {
    hint: 'the tokens that clients need to register; openssl rand -base64 32',
    check: 'registration',
  }),
  /**
   * Whether clients may identify themselves by a metadata document: `on`, `off`, or the hosts that
   * may serve the document, separated by commas.
   */
  TOLLGATE_CLIENT_DOCUMENTS: variable(read.onOffOrHosts, {
    overrides: 'selfRegistered.documents',
    check: 'registration',
  }),
  /** Scopes that clients which registered themselves may request, separated by commas. */
  TOLLGATE_SELF_REGISTERED_SCOPES: variable(read.names, {
    overrides: 'selfRegistered.scopes',
    check: 'registration',
  }),
  /** Private addresses and networks that outgoing requests to client-supplied URLs may reach. */
  TOLLGATE_PRIVATE_ADDRESSES: variable(read.addresses, {
    overrides: 'outgoing.privateAddresses',
    check: 'outgoing',
  }),
  /**
   * The URL that billing events are sent to as [signed webhooks](../guides/outgoing-webhooks.md).
   * @default the endpoints of `deliveries.endpoints`
   */
  TOLLGATE_DELIVERIES_URL: variable(read.exactUrl, { check: 'deliveries' }),
  /**
   * The secret (`whsec_…`) that signs the webhooks sent to `TOLLGATE_DELIVERIES_URL`. During a
   * rotation, several secrets separated by commas.
   */
  TOLLGATE_DELIVERIES_SECRET: variable(read.deliverySecrets, {
    hint: `the secret that signs the events: ${STANDARD_WEBHOOK_SECRET}`,
    check: 'deliveries',
  }),
  /**
   * Types of events to send, separated by commas: billing events, and `audit.entry` for [the audit
   * log](../guides/audit-log.md).
   * @default all billing events
   */
  TOLLGATE_DELIVERIES_TYPES: variable(read.someOf(shapes.deliveryTypes), { check: 'deliveries' }),
  /**
   * Private addresses and networks that events may be sent to. A demo may always send to this
   * machine.
   */
  TOLLGATE_DELIVERIES_PRIVATE_ADDRESSES: variable(read.addresses, {
    overrides: 'deliveries.privateAddresses',
    check: 'deliveries',
  }),
  /**
   * Addresses and networks of [your proxies](../guides/production.md#the-reverse-proxy), whose
   * `X-Forwarded-For` is trusted.
   */
  TOLLGATE_TRUSTED_PROXIES: defaulted(read.addresses, [[]], { check: 'proxies' }),
  /**
   * The bearer token required to read `/metrics`.
   * @default none: only programs on this machine can read it
   */
  TOLLGATE_METRICS_TOKEN: variable(z.string().min(16, 'needs at least 16 characters')),
  /**
   * The lowest level that is logged: `fatal`, `error`, `warn`, `info`, `debug` (includes every SQL
   * statement, without its values) or `silent`.
   */
  TOLLGATE_LOG_LEVEL: defaulted(read.oneOf(read.logLevels), ['warn', 'info']),
  /**
   * The largest difference in seconds between the clocks of a process and of the database. Beyond
   * it the process [issues no tokens](../guides/operations.md#clocks).
   */
  TOLLGATE_MAX_CLOCK_SKEW_SECONDS: defaulted(read.wholeNumberInRange(1, 3600), [60], {
    check: 'clock',
  }),
  /**
   * Seconds during which the service keeps serving after SIGTERM or SIGINT while `/readyz` returns
   * 503. A second signal ends the wait.
   */
  TOLLGATE_DRAIN_SECONDS: defaulted(read.wholeNumberInRange(0, 600), [0, 10]),
  /**
   * Seconds that the service waits at start-up for an unavailable database, 0 to 3600. Meanwhile
   * every request gets a 503.
   */
  TOLLGATE_DATABASE_WAIT_SECONDS: defaulted(read.wholeNumberInRange(0, 3600), [30]),
  /**
   * The port of the sandbox's control room.
   * @default the port after `PORT`, or a free one
   */
  TOLLGATE_SANDBOX_PORT: variable(read.wholeNumberInRange(0, 65_535)),
  /** Stripe's API secret key. */
  STRIPE_SECRET: variable(
    read.text.regex(/^(?:sk|rk)_\w+$/, "expects Stripe's secret key, sk_… or rk_…"),
    { hint: "Stripe's API secret key, sk_… (or give all of BRAINTREE_*)", ...PROVIDERS },
  ),
  /**
   * The signing secret of the endpoint `<TOLLGATE_URL>/stripe/webhook`. During a rotation, several
   * separated by commas.
   */
  STRIPE_WEBHOOK_SECRET: variable(read.stripeWebhookSecret, {
    hint: 'the signing secret of the webhook endpoint at Stripe, whsec_…: tollgate billing webhooks create',
    check: 'webhooks',
  }),
  /** Stripe's publishable key, for the card form of the billing page. */
  STRIPE_PUBLISHABLE_KEY: variable(
    z.string().regex(/^pk_\w+$/, "expects Stripe's publishable key, pk_…"),
  ),
  /**
   * Base URL of another API host, such as that of `tollgate sandbox`.
   * @default Stripe's own
   */
  STRIPE_API_URL: variable(read.url, PROVIDERS),
  /** The Braintree environment: `sandbox` or `production`. */
  BRAINTREE_ENVIRONMENT: variable(read.oneOf<'sandbox' | 'production'>(['sandbox', 'production']), {
    hint: 'sandbox or production',
    ...PROVIDERS,
  }),
  /** Braintree's merchant id. Braintree's control panel shows it and both keys under API keys. */
  BRAINTREE_MERCHANT_ID: variable(read.text, {
    hint: 'from the Braintree control panel, under API keys',
    ...PROVIDERS,
  }),
  /** Braintree's public key. */
  BRAINTREE_PUBLIC_KEY: variable(read.text, {
    hint: 'from the Braintree control panel, under API keys',
    ...PROVIDERS,
  }),
  /** Braintree's private key. */
  BRAINTREE_PRIVATE_KEY: variable(read.text, {
    hint: 'from the Braintree control panel, under API keys',
    ...PROVIDERS,
  }),
  /**
   * Base URL of another API host, such as that of `tollgate sandbox`. The billing page also loads
   * Braintree's scripts from there.
   * @default Braintree's own
   */
  BRAINTREE_API_URL: variable(read.url, PROVIDERS),

  /** The name of your product, shown on every page. */
  name: setting(z.string().min(1).max(60).default('Tollgate')),
  /** Each scope with the description people read before they approve it. */
  scopes: setting(
    z
      .record(z.string(), z.string())
      .readonly()
      .default({ 'place-orders': 'Place orders', 'check-status': 'Check order status' }),
  ),
  /** Scopes that people may [leave out](../guides/scopes.md#optional-scopes) when they approve. */
  optionalScopes: setting(list(z.string()), { text: read.names }),
  /**
   * Scopes that are [granted when a request names none](../guides/scopes.md#default-scopes), if the
   * client may have them.
   */
  defaultScopes: setting(list(z.string()), { text: read.names }),
  /**
   * The plans that people can subscribe to, in the order of the page. Each has `id`, `name`,
   * `amount` in the smallest unit of the currency and `months` per billing period; the optional fields are
   * `description`, `trialDays`, `seats: true` to let people choose a quantity (Stripe only), and
   * `stripe` and `braintree`, the ids at the providers if they differ from `id`.
   */
  plans: setting(
    z
      .array(shapes.plan)
      .readonly()
      .prefault([
        { id: 'monthly', name: 'Monthly', amount: 1000, months: 1, trialDays: 14 },
        { id: 'pro', name: 'Pro', amount: 2500, months: 1, seats: true },
        { id: 'yearly', name: 'Yearly', amount: 10_000, months: 12 },
      ]),
    { check: 'plans' },
  ),
  /** The currency of all plans, as a three-letter code. */
  currency: setting(
    z
      .string()
      .regex(/^[a-z]{3}$/i, 'expected a currency code of three letters such as usd')
      .toLowerCase()
      .default('usd'),
  ),
  /**
   * A function of the user that returns the tax on subscription charges as a percentage: 0 to 100
   * with at most two decimals.
   * @default 0 for everyone
   */
  taxPercentage: setting(
    callable<(user: User) => number | Promise<number>>().default(() => () => 0),
  ),
  /** Contact for people who forgot their password: an e-mail or a web address, shown on the sign-in page. */
  support: setting(
    z
      .union([z.email(), z.url({ protocol: /^https?$/ })], {
        error: 'expected an e-mail address or a URL',
      })
      .nullable()
      .default(null),
  ),
  /** Whether anyone may create an account. */
  registration: flag(true),
  /**
   * Whether clients registered for the password grant may exchange a password for tokens. Switch it
   * off unless you need it.
   */
  passwordGrant: flag(true, ADVISED_AGAINST),
  /**
   * Whether clients registered for the implicit grant may get access tokens without a code. Switch
   * it off unless you need it.
   */
  implicitGrant: flag(true, ADVISED_AGAINST),
  /**
   * Whether clients registered for the [device flow](../guides/device.md) (`client create
   * --device`) may let people type a code at `/oauth/device`.
   */
  deviceGrant: flag(true),
  /**
   * Whether clients registered for token exchange (`client create --exchange`) may [exchange
   * tokens](../guides/token-exchange.md).
   */
  exchangeGrant: flag(true),
  /**
   * Whether other applications can sign people in with their account here: [OpenID
   * Connect](../guides/openid.md). They get `name` and `email` with the scopes `profile` and
   * `email`; `email_verified` is false. They can sign people out, and are notified when a person
   * signs out.
   */
  openid: flag(true, { check: 'openid' }),
  /**
   * A function of the user and the scopes that returns further OpenID Connect claims about the
   * user, such as `{ locale: 'en-GB' }` or `{ email_verified: true }`, named as in [the
   * standard](../guides/openid.md).
   * @default none
   */
  claims: setting(
    callable<(user: User, scopes: readonly string[]) => UserClaims | Promise<UserClaims>>().default(
      () => () => ({}),
    ),
  ),
  /**
   * Further claims of access tokens and introspection responses: an object, or [a function of the
   * token](../guides/claims.md).
   */
  accessTokenClaims: setting(
    z
      .custom<AccessTokenClaimsOption<User>>(
        (value) =>
          typeof value === 'function' || (typeof value === 'object' && !Array.isArray(value)),
        'expected an object or a function',
      )
      .nullable()
      .default(null),
  ),
  /** Whether pages of registered clients may call the token endpoint and `/api` from [other origins](../guides/other-origins.md) (CORS). */
  cors: flag(false, {
    check: 'cors',
    remarks: (on) =>
      on && note('Pages of registered clients may send requests from other origins, also to /api'),
  }),
  /**
   * The signature algorithm of ID tokens, unless a client has its own. Every client must support
   * `RS256`.
   */
  idTokenAlgorithm: oneOf(signingAlgorithms, 'RS256', { check: 'openid' }),
  /**
   * Whether ID tokens of the token endpoint contain the claims of the scopes, as UserInfo does.
   * Auth.js, passport-openidconnect and others [never call
   * UserInfo](../guides/openid.md#clients-that-never-ask-userinfo) and need these claims to learn
   * a person's name. If off, a leaked ID token reveals less. A client's own `claims_in_id_token`
   * takes precedence.
   */
  claimsInIdToken: flag(true, { check: 'openid' }),
  /** The scopes that grant claims about a person. `address`, `phone` and `groups` need `claims`. */
  identityScopes: someOf<IdentityScope>(
    ['profile', 'email', 'address', 'phone', 'groups'],
    ['profile', 'email'],
    { check: 'openid' },
  ),
  /**
   * [Hybrid and implicit](../guides/openid.md#implicit-and-hybrid) response types that return an ID
   * token from the authorization endpoint, such as `code id_token`, for clients made with
   * `--implicit`. A code exchanged with PKCE is safer. Those with `token` need `implicitGrant`.
   */
  responseTypes: someOf<FrontChannelResponseType>(
    ['id_token', 'id_token token', 'code id_token', 'code token', 'code id_token token'],
    [],
    { check: 'openid' },
  ),
  /**
   * [Clients that register themselves](#clients-that-register-themselves): `policy`, `documents`,
   * `scopes`, `resources`.
   * @default open in a demo that listens on this machine, else closed
   */
  selfRegistered: setting(shapes.selfRegistered.nullable().default(null), {
    check: 'registration',
  }),
  /**
   * Whether the approval screen shows the logo of a client that an operator has registered or
   * verified. The service fetches the logo and serves it to browsers.
   */
  clientLogos: flag(true),
  /**
   * Whether clients may authenticate with their own key
   * ([`private_key_jwt`](../guides/clients-that-register.md)). `'shared-secrets'` also allows a JWT
   * signed with their secret (`client_secret_jwt`); such secrets are stored encrypted, not only
   * hashed.
   */
  clientAssertions: flagOr('shared-secrets', true, {
    check: 'clients',
    remarks: (offered) => [
      offered !== false && note('Clients may authenticate with a key'),
      offered === 'shared-secrets' &&
        note(
          'Secrets for client_secret_jwt are stored encrypted, and can be decrypted with TOLLGATE_SECRET',
        ),
    ],
  }),
  /**
   * The longest lifetime of a JWT that authenticates a client. The maximum is an hour, the lifetime
   * that Authlib uses. Each JWT is accepted once.
   */
  clientAssertionsExpireIn: setting(shapes.assertionLife.default('1h'), {
    text: shapes.assertionLife,
  }),
  /**
   * Whether clients may [push authorization requests](../guides/safer-requests.md) to `/oauth/par`
   * (RFC 9126). `'required'` requires it of every client.
   */
  pushedRequests: flagOr('required', true, REQUESTS),
  /**
   * Whether clients may [sign authorization requests](../guides/safer-requests.md) (RFC 9101).
   * `'required'` requires it of every client.
   */
  requestObjects: flagOr('required', true, REQUESTS),
  /**
   * Whether a signed request may be fetched from one of the client's `request_uris`. If on, a
   * client decides where the service sends a request while a person waits.
   */
  requestObjectsByReference: flag(false, REQUESTS),
  /**
   * Whether request objects may be unsigned for clients that have not registered an algorithm.
   * OpenID Connect allows it, but an unsigned object protects nothing.
   */
  unsignedRequestObjects: flag(false, REQUESTS),
  /**
   * Whether clients may [bind tokens to their key](../guides/key-bound-tokens.md) with DPoP (RFC
   * 9449), at `/api` too. `'required'` requires it of every client.
   */
  dpop: flagOr('required', true, REQUESTS),
  /**
   * Whether DPoP proofs must contain a nonce of the service. This is safer, but costs one more
   * request every few minutes.
   */
  dpopNonces: flag(false, REQUESTS),
  /**
   * The scope of replay detection for DPoP proofs at `/api`: `everywhere` detects replays across
   * all processes and writes a row for each request; `process` detects them only within a process,
   * in memory.
   */
  dpopGuardReplays: oneOf(['everywhere', 'process'], 'everywhere', REQUESTS),
  /**
   * Whether the [FAPI 2.0 Security Profile](../guides/fapi.md#in-the-service) applies to every
   * client. It switches `passwordGrant` and `implicitGrant` off, requires `pushedRequests` and
   * `dpop`, and signs ID tokens with ES256 unless `idTokenAlgorithm` is EdDSA. The service does not
   * start with a setting that contradicts it, and names that setting.
   */
  fapi2: flag(false, { check: 'clients' }),
  /**
   * Whether access tokens contain when and how the person signed in (`auth_time`, `acr`), so that
   * [your APIs](../guides/guards.md) can require a recent sign-in (RFC 9470). `acr` is always
   * `password`.
   */
  stepUp: flag(false, {
    check: 'tokens',
    remarks: (on) => on && note('Access tokens contain when and how people signed in'),
  }),
  /** Whether APIs may request introspection as a JWT (RFC 9701). */
  signedIntrospection: flag(false, {
    check: 'tokens',
    remarks: (on) => on && note('APIs may request introspection as a JWT'),
  }),
  /**
   * Outgoing requests to client-supplied URLs: `privateAddresses`, private addresses and networks
   * that they may reach; `certificates` (PEM) to trust in addition to those of Node.
   * @default public addresses only
   */
  outgoing: setting(shapes.outgoing.prefault({}), {
    check: 'outgoing',
    remarks: ({ privateAddresses }) =>
      privateAddresses.length > 0 &&
      caution(
        `Clients can make the service send requests to ${privateAddresses.join(', ')}, which is not public`,
        'Only for tests and internal clients. Otherwise remove TOLLGATE_PRIVATE_ADDRESSES, or outgoing.privateAddresses in the settings.',
      ),
  }),
  /**
   * The signature algorithm of access tokens. After a change the previous key signs for five more
   * minutes.
   */
  signingAlgorithm: oneOf(signingAlgorithms, 'ES256', { check: 'tokens' }),
  /**
   * The header `typ` of access tokens. Use `JWT` for APIs whose library accepts no other.
   * `...readByAll` (from `tollgate`) sets this and `signingAlgorithm` for [such
   * APIs](../guides/resources.md).
   */
  tokenType: oneOf<AccessTokenType>(['at+jwt', 'JWT'], 'at+jwt', { check: 'tokens' }),
  /** Whether access tokens are signed JWTs (`jwt`) or strings that only [introspection](../guides/guards.md) can read (`opaque`). */
  accessTokenFormat: oneOf<AccessTokenFormatName>(['jwt', 'opaque'], 'jwt', { check: 'tokens' }),
  /**
   * The claim `aud` of access tokens that are not for one of `resources` or `mcpServers`.
   * @default the base URL of the service
   */
  audience: setting(z.string().min(1).nullable().default(null), { text: read.text }),
  /**
   * Other APIs that clients can request tokens for, by the URL that clients send as `resource`:
   * [Several APIs](../guides/resources.md).
   */
  resources: setting(recordOf(z.custom<ResourceOptions>((value) => typeof value === 'object'))),
  /**
   * [MCP servers](../guides/mcp.md) that clients can request tokens for, such as `{
   * 'https://api.example.com/mcp': { scopes: ['read-orders'] } }`. Their clients identify
   * themselves by a metadata document, or register if `selfRegistered.policy` allows it; they get
   * tokens for these servers only, and their pages may call the token endpoint from other origins.
   * In the variable, the scopes follow each URL, and commas separate the servers:
   * `https://api.example.com/mcp read-orders place-orders, https://…`
   */
  mcpServers: setting(
    recordOf(z.custom<McpServerOptions>(shapes.hasScopes, { error: 'expected { scopes: […] }' })),
    { text: read.mcpServers, check: 'mcp' },
  ),
  /**
   * [Other issuers](../guides/assertions.md#in-the-service) whose assertions clients (`client
   * create --assertion` or `--workload`) can exchange for access tokens, as
   * [`TrustedIssuer`](options.md#trustedissuer) describes. With `emailDomains` and without
   * `userByEmail`, people are found by the e-mail address of their account, which needs
   * `registration: false`.
   * @default none
   */
  trustedIssuers: setting(list(z.custom<TrustedIssuer>().superRefine(shapes.checkIssuer))),
  /**
   * Other authorization servers, by issuer, for which clients may exchange an ID token for an
   * [assertion](../guides/assertions.md#mcp-enterprise-managed-authorization). Needs `openid` and
   * `exchangeGrant`.
   */
  identityAssertions: setting(
    recordOf(
      z.custom<IdentityAssertionOptions>(shapes.hasScopes, {
        error: 'expected { clients, scopes, resources }',
      }),
    ),
  ),
  /** The seller (`vendor`) and the product (`product`) that invoice PDFs show. */
  invoice: setting(
    shapes.invoice.readonly().default({ vendor: 'Tollgate', product: 'Subscription' }),
  ),
  /** Lifetime of access tokens: `'15d'`, `'90m'`, or seconds. */
  accessTokensExpireIn: setting(shapes.lifetime.default('365d')),
  /** Lifetime of refresh tokens (`'15d'`, `'90m'`, or seconds). It starts again with each refresh. */
  refreshTokensExpireIn: setting(shapes.lifetime.default('365d')),
  /** Lifetime of personal access tokens: `'15d'`, `'90m'`, or seconds. */
  personalAccessTokensExpireIn: setting(shapes.lifetime.default('365d')),
  /**
   * How long a client may repeat a refresh whose response it lost, and get the same new refresh
   * token, as long as that token is unused: 10 s to 7 d, or `false` for ten seconds. See
   * [grants](../guides/grants.md#refresh-tokens).
   */
  refreshTokensRepeatableFor: setting(shapes.repeatWindowShape.default('24h')),
  /** Like `refreshTokensRepeatableFor`, but for public clients. */
  publicRefreshTokensRepeatableFor: setting(shapes.repeatWindowShape.default('1h')),
  /** How long a new signing key is published before it is used. */
  keyPublishedAhead: setting(shapes.lifetime.default('5m'), { check: 'keys' }),
  /**
   * Lifetime of the cookie with which the service's pages call `/api`. It is renewed while the
   * pages are used.
   */
  cookieLifetime: setting(shapes.lifetime.default('2h')),
  /**
   * Methods `handle<Event>` that replace billing's own processing of a provider's webhook event:
   * see [billing](billing.md).
   * @default none
   */
  handlers: setting(z.custom<WebhookHandlers>((value) => typeof value === 'object').default({})),
  /**
   * The endpoints that billing events are sent to as [signed
   * webhooks](../guides/outgoing-webhooks.md): `endpoints`, each with `url`, `secret` (or several),
   * and optionally `types` and `name`; `privateAddresses`, private addresses and networks that
   * events may be sent to (a demo may always send to this machine); `certificates` (PEM) to trust
   * in addition to those of Node.
   * @default none
   */
  deliveries: setting(shapes.deliveries.prefault({}), { check: 'deliveries' }),
  /**
   * Whether every entry of [the audit log](../guides/audit-log.md#stream-it) is also written to
   * standard output, as one line of JSON with the message `audit`.
   */
  auditToLog: flag(false),
}
