import type { MeteredPrice, WebhookHandlers } from '@tollgate/billing'
import {
  type AccessTokenClaimsOption,
  accessTokenTypes,
  type CorsOptions,
  clientKeyAlgorithms,
  clientMetadataDocuments,
  clientRegistration,
  cors,
  deviceCode,
  type FrontChannelResponseType,
  type IdentityAssertionOptions,
  type IdentityScope,
  type McpServerOptions,
  openid,
  type PageMessages,
  type Pages,
  pushedRequests,
  type RegistrationPolicy,
  type ResourceOptions,
  signingAlgorithms,
  type TokenExchangeOptions,
  type TrustedIssuer,
  type UserClaims,
} from '@tollgate/oauth'
import { z } from 'zod'
import { SECOND_FACTOR_POLICIES } from '../factors/policy.ts'
import type { User } from '../users/user.ts'
import { parseLogLevel } from './log-level.ts'
import { freePlan, meters, plans } from './plans.ts'
import {
  callable,
  defaulted,
  flag,
  flagOrValue,
  list,
  names,
  okRemark,
  oneOf,
  optional,
  optionalOneOf,
  optionalSomeOf,
  period,
  recordOf,
  setting,
  someOf,
  variable,
  warningRemark,
  whole,
} from './row.ts'
import * as shapes from './shapes.ts'
import { signInRequestsShape, signInWithShape } from './sign-in-with.ts'
import * as read from './values.ts'

const STANDARD_WEBHOOK_SECRET = 'echo "whsec_$(openssl rand -base64 32)"'
const ADVISED_AGAINST = { check: 'grants' } as const
const REQUESTS = { check: 'requests' } as const
const PROVIDERS = { check: 'providers' } as const
const SHARE = 'expected a whole number from 1 to 100'
const FUNCTIONS = { error: 'expected an object of functions' }

const logLevel = z.string().superRefine(read.acceptedBy(parseLogLevel))

const corsAccepts = (option: keyof CorsOptions) =>
  read.acceptedBy((value: readonly string[]) => cors({ [option]: value }))

/**
 * Every setting of the service. Names in capitals are environment variables; other names are keys
 * of `tollgate.config.ts`. A key with a parser for text can also be set by a variable:
 * `passwordGrant` by `TOLLGATE_PASSWORD_GRANT`. The comments are the hovers in a
 * `tollgate.config.ts` and the sentences of docs/reference/service.md, which `npm run
 * docs:settings` updates.
 */
export const configTable = {
  /** Set to `production` to run the service in production mode instead of as a demo. */
  NODE_ENV: variable(read.text),
  /** The port to listen on. 0 picks a free one. */
  PORT: defaulted(read.wholeNumberInRange(0, 65_535), [3000]),
  /** The address to listen on. */
  HOST: defaulted(read.text, ['127.0.0.1', '0.0.0.0']),
  /**
   * How many [worker processes](../guides/operations.md#workers) of `tollgate serve` share the
   * port: 1 to 256, or `auto` for one per processor core. They are supervised by the main process.
   * A demo runs in one process.
   * @default none: the main process serves requests itself
   */
  TOLLGATE_WORKERS: variable(read.autoOrCount(256)),
  /**
   * The database: `postgres://…`, `mysql://…`, `mariadb://…` or `sqlite:<file>`.
   * @default `sqlite:<data folder>/tollgate.db` in a demo; required in production
   */
  DATABASE_URL: variable(read.databaseUrl, {
    hint: 'postgres://…, mysql://… or sqlite:/path/to/file.db',
    check: 'database',
    decides: ['oauth.database', 'billing.database'],
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
    decides: ['oauth.secret'],
  }),
  /** The previous secret, during [a rotation](../guides/operations.md#the-secret). */
  TOLLGATE_PREVIOUS_SECRET: variable(read.secret, { check: 'secret' }),
  /**
   * The next secret during a rotation: every process accepts tokens and cookies made with it, but
   * none makes new ones with it yet.
   */
  TOLLGATE_NEXT_SECRET: variable(read.secret, { check: 'secret' }),
  /**
   * The public base URL, which is also the issuer.
   * @default `http://localhost:<PORT>` in a demo; required in production
   */
  TOLLGATE_URL: variable(read.origin, {
    hint: 'the public URL, e.g. https://api.example.com',
    check: 'issuer',
    decides: ['oauth.issuer', 'billing.baseUrl'],
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
  TOLLGATE_PAIRWISE_SALT: variable(read.secret, {
    check: 'openid',
    decides: ['openid.pairwiseSalt'],
  }),
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
    decides: ['clientRegistration.initialAccessTokens'],
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
   * The [mail server](../guides/mail.md#in-the-service): `smtp://user:password@host:587` or
   * `smtps://…:465`, with special characters percent-encoded.
   * @default none: no mail is sent, unless the setting `mail` has `send`. A demo sends to the sandbox's mailbox
   */
  TOLLGATE_SMTP_URL: variable(read.smtpUrl, { decides: ['billing.mail'], check: 'mail' }),
  /**
   * Whether the connection to the mail server must be encrypted, by STARTTLS if the URL begins with
   * `smtp:`. `required` or `off`. With `off`, mail and password can be read on the way.
   * @default `required`; `off` if the host is this machine
   */
  TOLLGATE_SMTP_TLS: variable(read.oneOf<'required' | 'off'>(['required', 'off']), {
    check: 'mail',
  }),
  /** The sender of all mail: `billing@example.com` or `Example Ltd <billing@example.com>`. */
  TOLLGATE_MAIL_FROM: variable(read.mailAddress, {
    hint: 'the sender of all mail, e.g. Example Ltd <billing@example.com>',
    check: 'mail',
  }),
  /**
   * Addresses and networks of [your proxies](../guides/production.md#the-reverse-proxy), whose
   * `X-Forwarded-For` is trusted.
   */
  TOLLGATE_TRUSTED_PROXIES: defaulted(read.addresses, [[]], {
    check: 'proxies',
    decides: ['oauth.addressOf'],
  }),
  /**
   * The bearer token required to read `/metrics`.
   * @default none: only programs on this machine can read `/metrics`
   */
  TOLLGATE_METRICS_TOKEN: variable(z.string().min(16, 'needs at least 16 characters')),
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
    {
      hint: "Stripe's API secret key, sk_… (or give all of BRAINTREE_*)",
      decides: ['billing.stripe.secret'],
      ...PROVIDERS,
    },
  ),
  /**
   * The signing secret of the endpoint `<TOLLGATE_URL>/stripe/webhook`. During a rotation, several
   * separated by commas.
   */
  STRIPE_WEBHOOK_SECRET: variable(read.stripeWebhookSecret, {
    hint: 'the signing secret of the webhook endpoint at Stripe, whsec_…: tollgate billing webhooks create',
    check: 'webhooks',
    decides: ['billing.stripe.webhookSecret'],
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
    decides: ['billing.braintree.environment'],
    ...PROVIDERS,
  }),
  /** Braintree's merchant id. Braintree's control panel shows it and both keys under API keys. */
  BRAINTREE_MERCHANT_ID: variable(read.text, {
    hint: 'from the Braintree control panel, under API keys',
    decides: ['billing.braintree.merchantId'],
    ...PROVIDERS,
  }),
  /** Braintree's public key. */
  BRAINTREE_PUBLIC_KEY: variable(read.text, {
    hint: 'from the Braintree control panel, under API keys',
    decides: ['billing.braintree.publicKey'],
    ...PROVIDERS,
  }),
  /** Braintree's private key. */
  BRAINTREE_PRIVATE_KEY: variable(read.text, {
    hint: 'from the Braintree control panel, under API keys',
    decides: ['billing.braintree.privateKey'],
    ...PROVIDERS,
  }),
  /**
   * Base URL of another API host, such as that of `tollgate sandbox`. The billing page also loads
   * Braintree's scripts from there.
   * @default Braintree's own
   */
  BRAINTREE_API_URL: variable(read.url, PROVIDERS),

  /** The name of your product, shown on every page. */
  name: setting(shapes.productNameShape.default('Tollgate'), { text: shapes.productNameShape }),
  /**
   * Path of an image for the head of every page: SVG, PNG, JPEG or WebP, at most 256 KB, from the
   * working folder. The service serves it itself. A PNG or JPEG is also printed on invoices.
   * @default Tollgate's logo
   */
  logo: optional(z.string().min(1), { text: read.text }),
  /**
   * Path of the icon that browsers show in tabs: SVG, PNG or ICO.
   * @default `logo`
   */
  favicon: optional(z.string().min(1), { text: read.text }),
  /**
   * Color of links and buttons on light pages, such as `#2f5bd7`. A color that would be hard to read
   * is rejected, and [a similar one](../guides/branding.md#colors) is named.
   * @default blue, or derived from `accentColorDark`
   */
  accentColor: optional(shapes.accentColor('light'), { text: shapes.accentColor('light') }),
  /**
   * Color of links and buttons on dark pages.
   * @default light blue, or derived from `accentColor`
   */
  accentColorDark: optional(shapes.accentColor('dark'), { text: shapes.accentColor('dark') }),
  /**
   * The seller, at the foot of pages and on invoices and mail: the name of your company.
   * @default `name`, only on invoices and mail
   */
  vendor: optional(shapes.vendorShape, { text: shapes.vendorShape }),
  /**
   * The seller's address, in lines: at the foot of pages, on invoices and in mail. In the variable,
   * semicolons separate the lines.
   * @default none
   */
  vendorAddress: setting(shapes.addressLinesShape.default([]), { text: read.lines }),
  /** Each scope with the description people read before they approve it. */
  scopes: setting(
    z
      .record(z.string(), z.string())
      .readonly()
      .default({ 'place-orders': 'Place orders', 'check-status': 'Check order status' }),
    { option: 'oauth.scopes' },
  ),
  /** Scopes that people may [leave out](../guides/scopes.md#optional-scopes) when they approve. */
  optionalScopes: setting(list(z.string()), { text: read.names, option: 'oauth.optionalScopes' }),
  /**
   * Scopes that are [granted when a request names none](../guides/scopes.md#default-scopes), if the
   * client may have them.
   */
  defaultScopes: setting(list(z.string()), { text: read.names, option: 'oauth.defaultScopes' }),
  /**
   * The plans that people can subscribe to, in the order of the page: see
   * [plans](../guides/plans.md). Each has `id`, `name`, a price (`amount` in the smallest unit of the
   * currency, `tiers` or `unitAmount`) and `months` per billing period, or `intervals`, a list of
   * these; the optional fields are `description`, `features`, `prices` (charged in addition), `trialDays`,
   * `seats`, `promotionCodes`, `stripe` and `braintree`, the ids at the providers if they differ
   * from `id`, and `scopes`, `quota` and `rate`, which [limit what people on the plan can
   * do](../guides/plans.md#limits).
   */
  plans: setting(
    plans.prefault([
      { id: 'monthly', name: 'Monthly', amount: 1000, months: 1, trialDays: 14 },
      { id: 'pro', name: 'Pro', amount: 2500, months: 1, seats: true },
      { id: 'yearly', name: 'Yearly', amount: 10_000, months: 12 },
    ]),
    { check: 'plans' },
  ),
  /**
   * The plan of people without a subscription: `name` and `features` for the pages, and `scopes`,
   * `quota` and `rate`, which [limit what they can do](../guides/plans.md#limits). Required if a
   * plan has limits.
   * @default none
   */
  freePlan: optional(freePlan, { check: 'plans' }),
  /**
   * The meters that [the quotas of plans](../guides/plans.md#limits) count, by name: `kind` (`sum`, `count` or
   * `gauge`), `name` and `unit` for the pages, and `over` (`refuse`, `cap` or `bill`).
   * @default none
   */
  meters: setting(meters.readonly().default({}), { check: 'plans' }),
  /**
   * Shares of a quota in percent, from 1 to 100. A person who reaches one gets a mail, once for each
   * period. An empty list sends none.
   */
  quotaAlerts: setting(list(z.number().int().min(1, SHARE).max(100, SHARE), [80, 100]), {
    check: 'plans',
  }),
  /** The currency of all plans, as a three-letter code. */
  currency: setting(shapes.currencyShape.default('usd'), {
    text: shapes.currencyShape,
    decides: ['billing.stripe.currency', 'billing.braintree.currency'],
  }),
  /**
   * A function of the user that returns the tax on subscription charges as a percentage: 0 to 100
   * with at most two decimals.
   * @default 0 for everyone
   */
  taxPercentage: optional(callable<(user: User) => number | Promise<number>>(), {
    decides: ['billing.taxPercentage'],
  }),
  /**
   * How subscriptions and hosted pages are taxed: `percentage` by `taxPercentage`, `automatic` by
   * Stripe Tax from the customer's address, or `{ rates }`, a function of the user and the price
   * that returns the ids of Stripe's tax rates (`txr_…`). Only one of `tax` and `taxPercentage` can
   * determine the tax.
   * @default `percentage`
   */
  tax: optional(shapes.taxShape, {
    text: read.oneOf<'percentage' | 'automatic'>(['percentage', 'automatic']),
    decides: ['billing.tax'],
    check: 'providers',
  }),
  /**
   * Whether people can create [teams](../guides/teams.md), which have a subscription of their own.
   * An object switches them on as well; its `taxPercentage` is a function of the team that returns
   * the tax on its subscription charges, because the setting `taxPercentage` is only about users.
   */
  teams: setting(shapes.teamsShape.default(false), {
    text: read.onOff,
    decides: ['billing.owners'],
  }),
  /**
   * Contact for questions and for people who forgot their password: an e-mail or a web address, shown
   * on the sign-in page, at the foot of pages, on invoices and in mail.
   */
  support: optional(shapes.contactShape, { text: shapes.contactShape }),
  /**
   * Permission to create an account: `open` (everyone), `invitation` (people [invited by an
   * operator](../guides/accounts.md#invitations)) or `closed`. `true` and `on` mean `open`, `false`
   * and `off` mean `closed`.
   */
  registration: setting(shapes.registrationShape.prefault('open'), {
    text: shapes.registrationTextShape,
    check: 'registration',
  }),
  /**
   * A function of the form and the request that returns whether a person sent the forms for
   * registration and forgotten passwords, or `{ check, html, sources }` with the HTML of the
   * [challenge](../guides/accounts.md#captcha) and the origins that it loads from.
   * @default none
   */
  captcha: optional(shapes.captchaShape),
  /**
   * Whether people can add [a second factor](../guides/second-factors.md), an authenticator app or a
   * passkey: `optional`, `required` for everyone, `operators` (required for operators, optional for
   * others) or `off`. With `off`, existing factors are not asked for.
   */
  secondFactor: oneOf(SECOND_FACTOR_POLICIES, 'optional', {
    decides: ['openid.acrValues', 'stepUp.acrValues'],
  }),
  /**
   * Whether the password grant also issues tokens for accounts with a second factor, for which it
   * never asks.
   */
  passwordGrantWithSecondFactor: flag(false),
  /**
   * Other providers that people can [sign in with](../guides/sign-in-through-others.md): `google`,
   * `github`, `microsoft`, `apple`, and `custom`, an object of OpenID providers by your own ids. The
   * secret of each can come from the variable `TOLLGATE_SIGN_IN_<ID>_SECRET`, such as
   * `TOLLGATE_SIGN_IN_GOOGLE_SECRET`.
   * @default none
   */
  signInWith: setting(signInWithShape.prefault({}), { check: 'sign-in' }),
  /**
   * Requests to the providers of `signInWith`: `privateAddresses`, private addresses and networks
   * that they may reach (a demo may always reach this machine); `certificates` (PEM) to trust in
   * addition to those of Node; `timeout`, the seconds to wait for a response (1 to 30); `resolve`, a
   * function that returns the addresses of a host name.
   * @default public addresses only
   */
  signInRequests: setting(signInRequestsShape.prefault({}), { check: 'sign-in' }),
  /**
   * Whether people may delete [their own account](../guides/own-account.md#deletion) on the account
   * page. Operators can delete accounts in any case.
   */
  accountDeletion: flag(true),
  /**
   * Whether clients registered for the password grant may exchange a password for tokens. Switch it
   * off unless you need it.
   */
  passwordGrant: flag(true, { decides: ['password'], ...ADVISED_AGAINST }),
  /**
   * Whether clients registered for the implicit grant may get access tokens without a code. Switch
   * it off unless you need it.
   */
  implicitGrant: flag(true, { decides: ['implicit'], ...ADVISED_AGAINST }),
  /**
   * Whether clients registered for the [device flow](../guides/device.md) (`client create
   * --device`) may let people type a code at `/oauth/device`.
   */
  deviceGrant: flag(true, { decides: ['deviceCode'], check: 'grants' }),
  /**
   * How long a person has to type the code of a device and to approve: 1 to 30 minutes.
   * @default `10m`
   */
  deviceCodesExpireIn: period((lifetime) => deviceCode({ lifetime }), {
    option: 'deviceCode.lifetime',
    check: 'grants',
  }),
  /**
   * How long a device waits between two requests for its token: 1 to 60 seconds.
   * @default `5s`
   */
  devicePollInterval: period((interval) => deviceCode({ interval }), {
    option: 'deviceCode.interval',
    check: 'grants',
  }),
  /**
   * Whether clients registered for token exchange (`client create --exchange`) may [exchange
   * tokens](../guides/token-exchange.md).
   */
  exchangeGrant: flag(true, { decides: ['tokenExchange'], check: 'grants' }),
  /**
   * Whether every exchange needs an `actor_token`, so that each new token names the service that
   * acts for the person.
   */
  exchangeNeedsActor: flag(false, { option: 'tokenExchange.actorRequired', check: 'grants' }),
  /**
   * A function of `{ client, subject, actor, scopes, resources }` that returns whether a client may
   * [exchange a token](../guides/token-exchange.md). Called after all other checks.
   * @default all exchanges are allowed
   */
  allowExchange: optional(callable<NonNullable<TokenExchangeOptions['allow']>>(), {
    option: 'tokenExchange.allow',
  }),
  /**
   * Whether other applications can sign people in with their account here: [OpenID
   * Connect](../guides/openid.md). They get `name` and `email` with the scopes `profile` and
   * `email`; `email_verified` says whether the person has [confirmed the
   * address](../guides/accounts.md#links-in-mail). They can sign people out, and are notified when a person
   * signs out.
   */
  openid: flag(true, { decides: ['openid'], check: 'openid' }),
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
    { option: 'oauth.accessTokenClaims' },
  ),
  /** Whether pages of registered clients may call the token endpoint and `/api` from [other origins](../guides/other-origins.md) (CORS). */
  cors: flag(false, {
    decides: ['cors'],
    check: 'cors',
    remarks: (on) =>
      on &&
      okRemark('Pages of registered clients may send requests from other origins, also to /api'),
  }),
  /** Origins that `cors` allows in addition to those of registered clients, such as `https://docs.example.com`. */
  corsOrigins: setting(list(z.string()).superRefine(corsAccepts('origins')), {
    text: read.names.superRefine(corsAccepts('origins')),
    option: 'cors.origins',
    check: 'cors',
    remarks: (origins) =>
      origins.length > 0 &&
      okRemark(`Pages on ${origins.join(', ')} may send requests, also to /api`),
  }),
  /** Request headers that pages of other origins may send in addition to `Authorization`, `Content-Type` and `DPoP`. */
  corsRequestHeaders: setting(list(z.string()).superRefine(corsAccepts('requestHeaders')), {
    text: read.names.superRefine(corsAccepts('requestHeaders')),
    option: 'cors.requestHeaders',
    check: 'cors',
  }),
  /** Response headers that pages of other origins may read in addition to `WWW-Authenticate` and `DPoP-Nonce`. */
  corsResponseHeaders: setting(list(z.string()).superRefine(corsAccepts('responseHeaders')), {
    text: read.names.superRefine(corsAccepts('responseHeaders')),
    option: 'cors.responseHeaders',
    check: 'cors',
  }),
  /**
   * The signature algorithm of ID tokens, unless a client has its own. `RS256` is the default of
   * OpenID Connect, so clients that name no algorithm expect it.
   */
  idTokenAlgorithm: oneOf(signingAlgorithms, 'RS256', {
    option: 'openid.idTokenAlgorithm',
    check: 'openid',
  }),
  /**
   * The algorithms that a client can choose for ID tokens and UserInfo, in addition to the algorithm
   * of access tokens.
   * @default `idTokenAlgorithm` and `RS256`
   */
  idTokenAlgorithms: optionalSomeOf(signingAlgorithms, {
    option: 'openid.idTokenAlgorithms',
    check: 'openid',
  }),
  /**
   * Lifetime of ID tokens: `'1h'`, `'15m'`, or seconds.
   * @default `1h`
   */
  idTokensExpireIn: optional(shapes.lifetimeShape, {
    text: read.periodText,
    option: 'openid.idTokensExpireIn',
    check: 'openid',
  }),
  /**
   * How long the notice that a person has signed out is sent again to a client that does not
   * respond.
   * @default `1d`
   */
  logoutGiveUpAfter: period((giveUpAfter) => openid({ logout: { giveUpAfter } }), {
    option: 'openid.logout.giveUpAfter',
    check: 'openid',
  }),
  /**
   * Whether ID tokens of the token endpoint contain the claims of the scopes, as UserInfo does.
   * Auth.js, passport-openidconnect and others [never call
   * UserInfo](../guides/openid.md#clients-that-never-ask-userinfo) and need these claims to learn
   * a person's name. If off, a leaked ID token reveals less. A client's own `claims_in_id_token`
   * takes precedence.
   */
  claimsInIdToken: flag(true, { option: 'openid.claimsInIdToken', check: 'openid' }),
  /** The scopes that grant claims about a person. `address`, `phone` and `groups` need `claims`. */
  identityScopes: someOf(
    ['profile', 'email', 'address', 'phone', 'groups'] satisfies IdentityScope[],
    ['profile', 'email'],
    { option: 'openid.scopes', check: 'openid' },
  ),
  /**
   * [Hybrid and implicit](../guides/openid.md#implicit-and-hybrid) response types that return an ID
   * token from the authorization endpoint, such as `code id_token`, for clients made with
   * `--implicit`. A code exchanged with PKCE is safer. Those with `token` need `implicitGrant`.
   */
  responseTypes: someOf(
    [
      'id_token',
      'id_token token',
      'code id_token',
      'code token',
      'code id_token token',
    ] satisfies FrontChannelResponseType[],
    [],
    { option: 'openid.responseTypes', check: 'openid' },
  ),
  /**
   * [Clients that register themselves](#clients-that-register-themselves): `policy`, `documents`,
   * `scopes`, `resources`.
   * @default open in a demo that listens on this machine, else closed
   */
  selfRegistered: setting(shapes.selfRegisteredShape.nullable().default(null), {
    check: 'registration',
    decides: [
      'oauth.selfRegistered',
      'clientRegistration',
      'clientRegistration.policy',
      'clientMetadataDocuments',
      'clientMetadataDocuments.hosts',
      'mcp.registration',
    ],
  }),
  /**
   * The scopes that a client which registered itself may request: `registered`, those that it has
   * registered, or `marked`, all of `selfRegistered.scopes`, for clients that learn later which they
   * need.
   * @default `marked` if there are `mcpServers`, else `registered`
   */
  clientRegistrationScopes: optionalOneOf(['registered', 'marked'], {
    check: 'registration',
    decides: ['clientRegistration.scopes', 'clientMetadataDocuments.scopes'],
  }),
  /**
   * The redirect URIs that a client which registers itself may have: `web`, https or this machine, or
   * `apps`, also the scheme of a program, such as `cursor:`.
   * @default `apps` if there are `mcpServers`, else `web`
   */
  clientRegistrationRedirects: optionalOneOf(['web', 'apps'], {
    check: 'registration',
    decides: ['clientRegistration.redirects', 'clientMetadataDocuments.redirects', 'mcp.redirects'],
  }),
  /**
   * How many clients may register in a minute from one network, across all processes.
   * @default 20
   */
  clientRegistrationsPerMinute: whole([1, 10_000], {
    option: 'clientRegistration.perMinute',
    check: 'registration',
  }),
  /**
   * How many new client metadata documents are fetched in a minute for one network, across all
   * processes.
   * @default 10
   */
  clientDocumentsPerMinute: whole([1, 10_000], {
    option: 'clientMetadataDocuments.perMinute',
    check: 'registration',
  }),
  /**
   * Time after which a client that registered itself and has no token is deleted.
   * @default `30d`
   */
  unusedClientsExpireIn: period(
    (unusedExpireIn) => clientRegistration({ policy: 'open', unusedExpireIn }),
    { option: 'clientRegistration.unusedExpireIn', check: 'registration' },
  ),
  /**
   * Like `unusedClientsExpireIn`, but for clients with a metadata document.
   * @default `7d`
   */
  unusedDocumentClientsExpireIn: period(
    (unusedExpireIn) => clientMetadataDocuments({ unusedExpireIn }),
    { option: 'clientMetadataDocuments.unusedExpireIn', check: 'registration' },
  ),
  /**
   * Whether the approval screen shows the logo of a client that an operator has registered or
   * verified. The service fetches the logo and serves it to browsers.
   */
  clientLogos: flag(true, { decides: ['clientLogos'] }),
  /**
   * Whether clients may authenticate with their own key
   * ([`private_key_jwt`](../guides/clients-that-register.md)). `'shared-secrets'` also allows a JWT
   * signed with their secret (`client_secret_jwt`); such secrets are stored encrypted, not only
   * hashed.
   */
  clientAssertions: flagOrValue('shared-secrets', true, {
    decides: [
      'jwtClientAuthentication',
      'jwtClientAuthentication.sharedSecrets',
      'fapi2.clientAssertions',
    ],
    check: 'clients',
    remarks: (offered) => [
      offered !== false && okRemark('Clients may authenticate with a key'),
      offered === 'shared-secrets' &&
        okRemark(
          'Secrets for client_secret_jwt are stored encrypted, and can be decrypted with TOLLGATE_SECRET',
        ),
    ],
  }),
  /**
   * The longest lifetime of a JWT that authenticates a client. The maximum is an hour, the lifetime
   * that Authlib uses. Each JWT is accepted once.
   */
  clientAssertionsExpireIn: setting(shapes.assertionLifetimeShape.default('1h'), {
    text: shapes.assertionLifetimeShape,
    option: 'jwtClientAuthentication.assertionsExpireIn',
    check: 'clients',
  }),
  /** Whether a JWT is the only way for a client to authenticate. Clients that send a secret, and public clients, are then rejected. */
  clientAssertionsRequired: flag(false, {
    option: 'jwtClientAuthentication.required',
    check: 'clients',
    remarks: (on) => on && okRemark('Every client must authenticate with a JWT'),
  }),
  /**
   * The signature algorithms of the JWT with which a client authenticates.
   * @default all
   */
  clientAssertionAlgorithms: optionalSomeOf(clientKeyAlgorithms, {
    option: 'jwtClientAuthentication.algorithms',
    check: 'clients',
  }),
  /**
   * The accepted claim `aud` of the JWT with which a client authenticates: `issuer`, the issuer only,
   * or `endpoints`, also an endpoint at which clients authenticate.
   * @default `endpoints`
   */
  clientAssertionAudience: optionalOneOf(['issuer', 'endpoints'], {
    option: 'jwtClientAuthentication.audience',
    check: 'clients',
  }),
  /** Whether every client must use [PKCE](../guides/safer-requests.md#pkce-for-every-client), not only public ones. */
  requirePkce: flag(false, { decides: ['requirePkce'], ...REQUESTS }),
  /**
   * Whether clients may [push authorization requests](../guides/safer-requests.md) to `/oauth/par`
   * (RFC 9126). `'required'` requires it of every client.
   */
  pushedRequests: flagOrValue('required', true, {
    decides: ['pushedRequests', 'pushedRequests.required', 'fapi2.pushedRequests'],
    ...REQUESTS,
  }),
  /**
   * Time between a pushed request and the arrival of the person's browser with it: 5 to 600 seconds,
   * under `fapi2` less than 600.
   * @default `60s`
   */
  pushedRequestsExpireIn: period((lifetime) => pushedRequests({ lifetime }), {
    option: 'pushedRequests.lifetime',
    ...REQUESTS,
  }),
  /** Whether every pushed request must contain its `redirect_uri`, even if the client has only one. */
  pushedRedirectUriRequired: flag(false, {
    option: 'pushedRequests.requireRedirectUri',
    ...REQUESTS,
  }),
  /**
   * Whether clients may [sign authorization requests](../guides/safer-requests.md) (RFC 9101).
   * `'required'` requires it of every client.
   */
  requestObjects: flagOrValue('required', true, {
    decides: ['requestObjects', 'requestObjects.required', 'fapi2.requestObjects'],
    ...REQUESTS,
  }),
  /**
   * The signature algorithms of authorization requests.
   * @default all
   */
  requestObjectAlgorithms: optionalSomeOf(clientKeyAlgorithms, {
    option: 'requestObjects.algorithms',
    ...REQUESTS,
  }),
  /**
   * Whether a signed request may be fetched from one of the client's `request_uris`. If on, a
   * client decides where the service sends a request while a person waits.
   */
  requestObjectsByReference: flag(false, { option: 'requestObjects.byReference', ...REQUESTS }),
  /**
   * Whether request objects may be unsigned for clients that have not registered an algorithm.
   * OpenID Connect allows it, but an unsigned object protects nothing. `'never'` also rejects
   * clients that have registered `none`.
   */
  unsignedRequestObjects: flagOrValue('never', false, {
    option: 'requestObjects.unsigned',
    ...REQUESTS,
  }),
  /**
   * Whether clients may [bind tokens to their key](../guides/key-bound-tokens.md) with DPoP (RFC
   * 9449), at `/api` too. `'required'` requires it of every client.
   */
  dpop: flagOrValue('required', true, {
    decides: ['dpop', 'dpop.required', 'fapi2.dpop'],
    ...REQUESTS,
  }),
  /**
   * Whether DPoP proofs must contain a nonce of the service. This is safer, but costs one more
   * request every few minutes.
   */
  dpopNonces: flag(false, { option: 'dpop.nonces', ...REQUESTS }),
  /**
   * The scope of replay detection for DPoP proofs at `/api`: `everywhere` detects replays across
   * all processes and writes a row for each request; `process` detects them only within a process,
   * in memory.
   */
  dpopGuardReplays: oneOf(['everywhere', 'process'], 'everywhere', {
    option: 'dpop.guardReplays',
    ...REQUESTS,
  }),
  /**
   * The signature algorithms of DPoP proofs.
   * @default all
   */
  dpopAlgorithms: optionalSomeOf(clientKeyAlgorithms, { option: 'dpop.algorithms', ...REQUESTS }),
  /** Whether a refresh replaces a refresh token that is bound to a DPoP key. */
  dpopRotateRefreshTokens: flag(true, { option: 'dpop.rotateRefreshTokens', ...REQUESTS }),
  /**
   * Public URLs of `/api`, with which DPoP proofs are compared. Needed only if a proxy serves `/api`
   * at another host or removes a part of the path.
   */
  dpopApiUrls: setting(list(read.exactUrl), {
    text: read.names.pipe(z.array(read.exactUrl)),
    option: 'dpop.apiUrls',
    ...REQUESTS,
  }),
  /**
   * Whether the [FAPI 2.0 Security Profile](../guides/fapi.md#in-the-service) applies to every
   * client. It switches `passwordGrant` and `implicitGrant` off, requires `pushedRequests` and
   * `dpop`, and signs ID tokens with ES256 unless `idTokenAlgorithm` is EdDSA. The service does not
   * start with a setting that contradicts it, and names that setting.
   */
  fapi2: flag(false, { decides: ['fapi2'], check: 'clients' }),
  /**
   * Whether access tokens contain when and how the person signed in (`auth_time`, `acr`), so that
   * [your APIs](../guides/guards.md) can require a recent sign-in (RFC 9470). `acr` is `password`,
   * or `mfa` after [two factors](../guides/second-factors.md); it is missing after a sign-in at
   * another provider.
   */
  stepUp: flag(false, {
    decides: ['stepUp'],
    check: 'tokens',
    remarks: (on) => on && okRemark('Access tokens contain when and how people signed in'),
  }),
  /** Whether APIs may request introspection as a JWT (RFC 9701). */
  signedIntrospection: flag(false, {
    decides: ['signedIntrospection'],
    check: 'tokens',
    remarks: (on) => on && okRemark('APIs may request introspection as a JWT'),
  }),
  /**
   * The signature algorithm of introspection responses, unless a client has its own.
   * @default the first of `introspectionAlgorithms`, else `RS256`
   */
  introspectionAlgorithm: optionalOneOf(signingAlgorithms, {
    option: 'signedIntrospection.algorithm',
    check: 'tokens',
  }),
  /**
   * The algorithms that a client can choose for introspection responses, in addition to the
   * algorithm of access tokens.
   * @default `introspectionAlgorithm` and `RS256`
   */
  introspectionAlgorithms: optionalSomeOf(signingAlgorithms, {
    option: 'signedIntrospection.algorithms',
    check: 'tokens',
  }),
  /**
   * Outgoing requests to client-supplied URLs: `privateAddresses`, private addresses and networks
   * that they may reach; `certificates` (PEM) to trust in addition to those of Node; `timeout`, the
   * longest time for a response (1 to 30 seconds); `resolve`, a function that returns the addresses
   * of a host name.
   * @default public addresses only
   */
  outgoing: setting(shapes.outgoingShape.prefault({}), {
    option: 'oauth.outgoing',
    check: 'outgoing',
    remarks: ({ privateAddresses }) =>
      privateAddresses.length > 0 &&
      warningRemark(
        `Clients can make the service send requests to ${privateAddresses.join(', ')}, which is not public`,
        'Only for tests and internal clients. Otherwise remove TOLLGATE_PRIVATE_ADDRESSES, or outgoing.privateAddresses in the settings.',
      ),
  }),
  /**
   * The signature algorithm of access tokens. After a change the previous key signs for five more
   * minutes.
   */
  signingAlgorithm: oneOf(signingAlgorithms, 'ES256', {
    option: 'oauth.signingAlgorithm',
    check: 'tokens',
  }),
  /**
   * The header `typ` of access tokens. Use `JWT` for APIs whose library accepts no other.
   * `...readByAll` (from `tollgate`) sets this and `signingAlgorithm` for [such
   * APIs](../guides/resources.md).
   */
  tokenType: oneOf(accessTokenTypes, 'at+jwt', { option: 'oauth.tokenType', check: 'tokens' }),
  /**
   * Whether access tokens are signed JWTs (`jwt`) or strings that only
   * [introspection](../guides/guards.md) can read (`opaque`); in the file also [a format of your
   * own](../guides/write-a-token-format.md).
   */
  accessTokenFormat: setting(shapes.accessTokenFormatShape.default('jwt'), {
    text: read.oneOf(shapes.accessTokenFormats),
    option: 'oauth.accessTokenFormat',
    check: 'tokens',
  }),
  /**
   * The claim `aud` of access tokens that are not for one of `resources` or `mcpServers`.
   * @default the base URL of the service
   */
  audience: optional(z.string().min(1), { text: read.text, option: 'oauth.audience' }),
  /**
   * Other APIs that clients can request tokens for, by the URL that clients send as `resource`:
   * [Several APIs](../guides/resources.md).
   */
  resources: setting(recordOf(z.custom<ResourceOptions>(shapes.isObject)), {
    option: 'oauth.resources',
  }),
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
    { text: read.mcpServers, option: 'mcp.servers', decides: ['mcp'], check: 'mcp' },
  ),
  /** Origins of MCP clients that run in a browser, such as `https://inspector.example.com`. */
  mcpOrigins: setting(list(z.string()).superRefine(corsAccepts('origins')), {
    text: read.names.superRefine(corsAccepts('origins')),
    option: 'mcp.origins',
    check: 'mcp',
  }),
  /**
   * [Other issuers](../guides/assertions.md#in-the-service) whose assertions clients (`client
   * create --assertion` or `--workload`) can exchange for access tokens, as
   * [`TrustedIssuer`](options.md#trustedissuer) describes. With `emailDomains` and without
   * `userByEmail`, people are found by the e-mail address of their account, which needs
   * another `registration` than `open`.
   * @default none
   */
  trustedIssuers: setting(list(z.custom<TrustedIssuer>().superRefine(shapes.checkIssuer)), {
    decides: ['jwtBearer', 'jwtBearer.issuers'],
  }),
  /**
   * Lifetime of the access tokens for assertions of `trustedIssuers`, at most
   * `accessTokensExpireIn`.
   * @default `1h`
   */
  assertionTokensExpireIn: period(() => {}, { option: 'jwtBearer.accessTokensExpireIn' }),
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
    { option: 'openid.identityAssertions' },
  ),
  /**
   * Content of invoice PDFs: the seller (`vendor`) and the product (`product`), `vendorDetails` (lines below the seller: address, VAT number), `legal` (lines at the foot of
   * every page), `footer` (text at the end), `logo` (the bytes of a PNG or JPEG), `locale` (for
   * people who have chosen no language), `words` (texts that replace the built-in ones) and `fonts`
   * (`regular` and `bold`, the bytes of font files).
   */
  invoice: setting(shapes.invoiceShape.readonly().default({}), { decides: ['billing.invoice'] }),
  /**
   * [Mail to customers](../guides/mail.md), such as receipts and failed payments: `only` (the kinds
   * to send), `link` (a function that returns the URL of the button; by default the billing page),
   * `words` (texts that replace the built-in ones), and `send`, a function that sends one mail with
   * your mail service instead of `TOLLGATE_SMTP_URL`. The seller is named in `invoice`.
   * @default all kinds, if there is a mail server
   */
  mail: optional(shapes.mailShape, { decides: ['billing.mail'] }),
  /** Lifetime of access tokens: `'15d'`, `'90m'`, seconds, or a function that returns the `Date` of expiry. */
  accessTokensExpireIn: setting(shapes.lifetimeShape.default('365d'), {
    text: read.periodText,
    option: 'oauth.accessTokensExpireIn',
    check: 'tokens',
  }),
  /** Lifetime of refresh tokens (`'15d'`, `'90m'`, or seconds). It starts again with each refresh. */
  refreshTokensExpireIn: setting(shapes.lifetimeShape.default('365d'), {
    text: read.periodText,
    option: 'oauth.refreshTokensExpireIn',
    check: 'tokens',
  }),
  /** Lifetime of personal access tokens: `'15d'`, `'90m'`, or seconds. */
  personalAccessTokensExpireIn: setting(shapes.lifetimeShape.default('365d'), {
    text: read.periodText,
    option: 'oauth.personalAccessTokensExpireIn',
    check: 'tokens',
  }),
  /**
   * Text in front of new [personal access tokens](../guides/personal-access-tokens.md#prefix), by
   * which secret scanners find them: 2 to 15 letters and digits and an underscore, such as `tgp_`.
   * APIs that verify JWTs with a library of their own do not know the prefix.
   * @default none
   */
  tokenPrefix: optional(shapes.tokenPrefixShape, {
    text: shapes.tokenPrefixShape,
    option: 'oauth.personalAccessTokenPrefix',
    check: 'tokens',
  }),
  /**
   * How long a client may repeat a refresh whose response it lost, and get the same new refresh
   * token, as long as that token is unused: 10 s to 7 d, or `false` for ten seconds. See
   * [grants](../guides/grants.md#refresh-tokens).
   */
  refreshTokensRepeatableFor: setting(shapes.repeatWindowShape.default('24h'), {
    text: shapes.repeatWindowTextShape,
    option: 'refreshToken.repeatableFor',
    check: 'tokens',
  }),
  /** Like `refreshTokensRepeatableFor`, but for public clients. */
  publicRefreshTokensRepeatableFor: setting(shapes.repeatWindowShape.default('1h'), {
    text: shapes.repeatWindowTextShape,
    option: 'refreshToken.publicRepeatableFor',
    check: 'tokens',
  }),
  /**
   * Whether a refresh revokes the previous access token, in every process within a second. Otherwise
   * it stays valid until it expires.
   */
  refreshEndsAccessToken: flag(false, {
    option: 'refreshToken.endsOldAccessToken',
    check: 'tokens',
  }),
  /** How long a new signing key is published before it is used. */
  keyPublishedAhead: setting(read.period.default('5m'), {
    text: read.periodText,
    option: 'oauth.keyPublishedAhead',
    check: 'keys',
  }),
  /**
   * Lifetime of the cookie with which the service's pages call `/api`. It is renewed while the
   * pages are used.
   */
  cookieLifetime: setting(read.period.default('2h'), {
    text: read.periodText,
    option: 'oauth.cookieLifetime',
  }),
  /**
   * Texts of the pages at `/oauth` in further languages, or replacements for the built-in texts, by
   * language: [Texts](options.md#texts-and-languages). `scope.<name>` describes a scope in that language.
   * @default none
   */
  messages: optional(z.custom<Readonly<Record<string, PageMessages>>>(shapes.isObject), {
    option: 'oauth.messages',
  }),
  /**
   * Your own pages at `/oauth`, which replace those of the service one by one: [Pages](options.md#pages).
   * @default none
   */
  pages: optional(z.custom<Partial<Pages>>(shapes.isObject), { decides: ['oauth.pages'] }),
  /**
   * Functions that replace the other pages of the service one by one, by path, such as `/account`:
   * [Pages of your own](../guides/branding.md#pages-and-texts-of-your-own).
   * @default none
   */
  servicePages: setting(shapes.servicePagesShape.default({})),
  /**
   * Seconds between two deletions of expired and revoked rows, or `false` (in the variable `off`) if
   * `tollgate purge` runs regularly.
   */
  purgeEvery: setting(shapes.secondsOrNever([60, 86_400]).default(3600), {
    text: read.wholeNumberOrOff(60, 86_400),
    decides: ['oauth.purgeEvery'],
  }),
  /**
   * Whether the service migrates its tables when it starts. If off, run `tollgate migrate` before
   * each new version: until then the service does not start.
   */
  migrate: flag(true, { decides: ['oauth.migrate', 'billing.migrate'], check: 'database' }),
  /**
   * Methods `handle<Event>` that replace billing's own processing of a provider's webhook event:
   * see [billing](billing.md).
   * @default none
   */
  handlers: setting(z.custom<WebhookHandlers>(shapes.hasFunctionsOnly, FUNCTIONS).default({}), {
    decides: ['billing.handlers'],
  }),
  /**
   * Functions that are called with [billing events](../guides/billing-events.md), by event type,
   * such as `'invoice.paid'`. A function that throws is called again, so make it idempotent.
   * @default none
   */
  on: optional(shapes.eventListenersShape, {
    option: 'billing.on',
  }),
  /**
   * The endpoints that billing events are sent to as [signed
   * webhooks](../guides/outgoing-webhooks.md): `endpoints`, each with `url`, `secret` (or several),
   * and optionally `types` and `name`; `privateAddresses`, private addresses and networks that
   * events may be sent to (a demo may always send to this machine); `certificates` (PEM) to trust
   * in addition to those of Node; `timeout`, the seconds to wait for a response (1 to 30); `resolve`,
   * a function that returns the addresses of a host name.
   * @default none
   */
  deliveries: setting(shapes.deliveriesShape.prefault({}), {
    decides: ['billing.deliveries'],
    check: 'deliveries',
  }),
  /**
   * How often a received webhook, or an event for your application, is attempted before it becomes a
   * dead letter.
   * @default 12, spread over about 32 hours
   */
  webhookAttempts: whole([1, 100], { option: 'billing.webhookAttempts', check: 'webhooks' }),
  /**
   * Seconds between checks for due billing work: events and usage that wait for another attempt.
   * New work starts immediately in any case.
   * @default 10
   */
  processEvery: whole([1, 3600], { decides: ['billing.processEvery'] }),
  /**
   * Seconds after which other processes take over the work of a killed one.
   * @default 15
   */
  lockLease: whole([1, 3600], { option: 'billing.lockLease' }),
  /**
   * The provider of people who have not paid yet: `stripe` or `braintree`.
   * @default Stripe if it is configured, else Braintree
   */
  defaultProvider: optionalOneOf(['stripe', 'braintree'], {
    option: 'billing.defaultProvider',
    check: 'providers',
  }),
  /**
   * Number of failed charges after which a subscription is cancelled, possibly before the provider
   * stops trying.
   * @default the provider decides
   */
  maxFailedCharges: whole([1, 100], { option: 'billing.maxFailedCharges' }),
  /**
   * How a dispute affects access: `keep` (not at all), `suspend` (no access until the dispute is
   * decided) or `end` (the subscription ends when the dispute is lost).
   */
  disputeAccess: oneOf(['keep', 'suspend', 'end'], 'keep', { option: 'billing.disputes.access' }),
  /** Whether a paused subscription gives access (`keep`) or none until it continues (`suspend`). */
  pauseAccess: oneOf(['keep', 'suspend'], 'keep', { option: 'billing.pauses.access' }),
  /** Whether each person gets at most one free trial, of any subscription at any provider. */
  oneTrialPerPerson: flag(false, { option: 'billing.trials.oncePerOwner' }),
  /**
   * How many promotion codes that do not exist a person may try: `limit` attempts in `seconds`.
   * @default 10 in an hour
   */
  promotionCodeAttempts: optional(shapes.attemptLimitShape, { option: 'billing.codeAttempts' }),
  /**
   * Ids of the Stripe prices on sale. Other prices are rejected before a request is sent, and
   * `tollgate doctor` names those that Stripe does not have.
   * @default all prices
   */
  stripePrices: names({ option: 'billing.stripe.prices', ...PROVIDERS }),
  /**
   * Configuration of Stripe's SDK: `timeout` (in milliseconds), `maxNetworkRetries`, `httpAgent`
   * (for a proxy) and others. `STRIPE_API_URL` determines the host.
   * @default none
   */
  stripeConfig: optional(z.custom<Readonly<Record<string, unknown>>>(shapes.isObject), {
    decides: ['billing.stripe.config'],
  }),
  /**
   * Ids of the Braintree plans on sale. Other plans are rejected before a request is sent, and
   * `tollgate doctor` names those that Braintree does not have.
   * @default all plans
   */
  braintreePrices: names({ option: 'billing.braintree.prices', ...PROVIDERS }),
  /**
   * Id of the discount in Braintree's control panel that carries the credit of a swap to a plan with
   * another billing period.
   * @default `plan-credit`
   */
  braintreePlanCredit: optional(z.string().min(1), {
    text: read.text,
    option: 'billing.braintree.planCredit',
    ...PROVIDERS,
  }),
  /**
   * Name of the custom field in Braintree's control panel that stores the description of a charge.
   * @default `description`
   */
  braintreeDescriptionField: optional(z.string().min(1), {
    text: read.text,
    option: 'billing.braintree.descriptionField',
    ...PROVIDERS,
  }),
  /**
   * Prices of metered usage at Braintree, by the name of the meter: [usage](../guides/usage.md).
   * @default none
   */
  braintreeMetered: optional(z.custom<Readonly<Record<string, MeteredPrice>>>(shapes.isObject), {
    option: 'billing.braintree.metered',
  }),
  /**
   * The longest time in milliseconds for a request to Braintree.
   * @default 30000
   */
  braintreeTimeout: whole([1000, 600_000], { option: 'billing.braintree.timeout', ...PROVIDERS }),
  /**
   * Whether every entry of [the audit log](../guides/audit-log.md#stream-it) is also written to
   * standard output, as one line of JSON with the message `audit`.
   */
  auditToLog: flag(false),
  /**
   * The lowest level that is logged: `fatal`, `error`, `warn`, `info`, `debug` (includes every SQL
   * statement, without its values) or `silent`. The areas `requests`, `oauth`, `billing` and
   * `database` can have other levels: `info,billing=debug`. See [the log](#log).
   * @default `warn` in a demo, `info` in production
   */
  logLevel: optional(logLevel, { text: logLevel }),
}
