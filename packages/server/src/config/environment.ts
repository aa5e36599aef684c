import { isIPv4 } from 'node:net'
import type { DeliveryOptions, StripeSettings } from '@tollgate/billing'
import { ConfigurationError } from '../configuration-error.ts'
import type { Config, Need, SelfRegistered } from './config.ts'
import { findContradictions, findIneffective, findMailContradictions } from './contradictions.ts'
import { findSecretProblem, readOrCreateSecret } from './demo-secret.ts'
import { applyFapi2, findFapi2Problems } from './fapi2.ts'
import { parseLogLevel } from './log-level.ts'
import { findUnsellable } from './plan-capabilities.ts'
import type { Mode } from './row.ts'
import type { DeliverySettings, SelfRegisteredSettings, Settings } from './settings.ts'
import { resolveSignInWith } from './sign-in-with.ts'
import { configTable } from './table.ts'
import { parseVariables, providerKeys, type VariableName, type Variables } from './variables.ts'

const TOKENS = 'TOLLGATE_INITIAL_ACCESS_TOKENS'
const DELIVERY_URL = 'TOLLGATE_DELIVERIES_URL'
const DELIVERY_SECRET = 'TOLLGATE_DELIVERIES_SECRET'
const SMTP_URL = 'TOLLGATE_SMTP_URL'

/**
 * Combines environment variables with the settings of the configuration file. Chooses production
 * mode if NODE_ENV is `production` or a key of a payment provider is set.
 * @throws ConfigurationError that names every missing or invalid value.
 */
export function readEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  {
    settings: ofFile,
    needs,
    problems: wrongInFile = [],
  }: {
    readonly settings: Settings
    readonly needs: readonly Need[]
    /** Mistakes in the file, to be reported together with those in the environment. */
    readonly problems?: readonly string[]
  },
): Config {
  const parsed = parseVariables(environment)
  const { mode, values } = parsed
  const privateAddresses = values.TOLLGATE_PRIVATE_ADDRESSES ?? ofFile.outgoing.privateAddresses
  const outgoing = { ...ofFile.outgoing, privateAddresses }
  const chosen = { ...ofFile, ...parsed.settings, outgoing }
  const settings = applyFapi2(chosen)
  const selfRegistered = resolveSelfRegisteredSettings(values, settings, mode)
  const signIn = resolveSignInWith(settings.signInWith, environment)
  const absent: VariableName[] = [
    ...(mode === 'demo' ? [] : findMissing(values, needs)),
    ...(needsTokens(selfRegistered, needs) ? ([TOKENS] as const) : []),
    ...(values[DELIVERY_URL] !== null && values[DELIVERY_SECRET] === null
      ? ([DELIVERY_SECRET] as const)
      : []),
    ...(values[SMTP_URL] !== null && values.TOLLGATE_MAIL_FROM === null
      ? (['TOLLGATE_MAIL_FROM'] as const)
      : []),
  ]
  const missing = absent.filter((name) => !parsed.given.has(name))
  const weak = findSecretProblem(values, mode)
  const problems = [
    ...missing.map((name) =>
      [`${name} is missing`, configTable[name].hint].filter(Boolean).join(': '),
    ),
    ...parsed.problems,
    ...wrongInFile,
    ...signIn.problems,
    ...findFapi2Problems(chosen),
    ...findContradictions(chosen),
    ...findMailContradictions(values, chosen, mode),
    ...findProviderProblems(values, chosen, mode, needs),
    ...findUnsellable(settings.plans, providersOf(values)),
    ...(weak ? [weak] : []),
    ...findWorkersProblem(values, mode),
  ]
  if (problems.length > 0) throw refuse(mode, problems)
  const { PORT: port, TOLLGATE_DATA_DIR: dataDir } = values
  const log = settings.logLevel === null ? null : parseLogLevel(settings.logLevel)
  return {
    mode,
    host: values.HOST,
    port,
    workers: values.TOLLGATE_WORKERS,
    url: values.TOLLGATE_URL ?? (port === 0 ? null : `http://localhost:${port}`),
    databaseUrl: values.DATABASE_URL ?? `sqlite:${dataDir}/tollgate.db`,
    dataDir,
    secrets: resolveSecrets(values, mode),
    pairwiseSalt: values.TOLLGATE_PAIRWISE_SALT,
    selfRegistered,
    signInWith: signIn.providers,
    stripe: resolveStripeSettings(values, settings, needs),
    stripePublishableKey: values.STRIPE_PUBLISHABLE_KEY,
    braintree: resolveBraintreeSettings(values, settings),
    deliveries: resolveDeliverySettings(values, settings.deliveries, mode),
    smtp: resolveSmtpSettings(values),
    trustedProxies: values.TOLLGATE_TRUSTED_PROXIES,
    metricsToken: values.TOLLGATE_METRICS_TOKEN,
    logLevel: log?.level ?? (mode === 'demo' ? 'warn' : 'info'),
    logAreas: log?.areas ?? {},
    drainSeconds: values.TOLLGATE_DRAIN_SECONDS,
    databaseWaitSeconds: values.TOLLGATE_DATABASE_WAIT_SECONDS,
    maxClockSkewSeconds: values.TOLLGATE_MAX_CLOCK_SKEW_SECONDS,
    sandboxPort: values.TOLLGATE_SANDBOX_PORT,
    warnings: [
      ...parsed.warnings,
      ...listTokenWarnings(selfRegistered),
      ...listDeliveryWarnings(values),
      ...listMailWarnings(values),
      ...signIn.warnings,
      ...findIneffective(chosen, (feature) => isClosed(feature, selfRegistered)),
    ],
    settings,
    given: parsed.given,
  }
}

function findWorkersProblem({ TOLLGATE_WORKERS: workers }: Variables, mode: Mode): string[] {
  if (mode === 'production' || typeof workers !== 'number' || workers === 1) return []
  return [
    `TOLLGATE_WORKERS is ${workers}, but a demo runs in one process, which owns its sandbox and the sandbox's clock. Leave it out, or use auto, which is 1 in a demo`,
  ]
}

/** Whether registration in this way is closed. `undefined` for other features. */
function isClosed(feature: string, { policy, documents }: SelfRegistered): boolean | undefined {
  if (feature === 'clientRegistration') return policy === 'closed'
  return feature === 'clientMetadataDocuments' ? documents === false : undefined
}

/** Lists contradictions between the keys of the providers, and with the settings for them. */
function findProviderProblems(
  values: Variables,
  { defaultProvider }: Settings,
  mode: Mode,
  needs: readonly Need[],
): string[] {
  const { STRIPE_SECRET: secret, STRIPE_PUBLISHABLE_KEY: publishable } = values
  const keyMode = (key: string | null) => key?.split('_')[1]
  const isMixed = secret && publishable && keyMode(secret) !== keyMode(publishable)
  const keys = { stripe: secret, braintree: values.BRAINTREE_PRIVATE_KEY }
  const isAbsent =
    mode === 'production' &&
    needs.includes('providers') &&
    defaultProvider !== null &&
    keys[defaultProvider] === null
  return [
    ...(isMixed
      ? [
          `STRIPE_SECRET is a key of ${keyMode(secret)} mode, but STRIPE_PUBLISHABLE_KEY of ${keyMode(publishable)} mode: take both from the same mode.`,
        ]
      : []),
    ...(isAbsent
      ? [
          `defaultProvider is ${defaultProvider}, which has no keys: set ${defaultProvider.toUpperCase()}_…, or choose the other provider.`,
        ]
      : []),
  ]
}

function listTokenWarnings({ policy, initialAccessTokens }: SelfRegistered): string[] {
  if (policy === 'initial-access-token' || initialAccessTokens.length === 0) return []
  return [`${TOKENS} is not used, because the policy for client registration is ${policy}.`]
}

function listDeliveryWarnings(values: Variables): string[] {
  const unused = ([DELIVERY_SECRET, 'TOLLGATE_DELIVERIES_TYPES'] as const).filter(
    (name) => values[DELIVERY_URL] === null && values[name] !== null,
  )
  return unused.map((name) => `${name} is not used, because ${DELIVERY_URL} is not set.`)
}

function listMailWarnings(values: Variables): string[] {
  const unused = (['TOLLGATE_MAIL_FROM', 'TOLLGATE_SMTP_TLS'] as const).filter(
    (name) => values[SMTP_URL] === null && values[name] !== null,
  )
  return unused.map((name) => `${name} is not used, because ${SMTP_URL} is not set.`)
}

/**
 * Whether initial access tokens are missing. Only commands that create the authorization server
 * need them.
 */
function needsTokens(
  { policy, initialAccessTokens }: SelfRegistered,
  needs: readonly Need[],
): boolean {
  return (
    policy === 'initial-access-token' &&
    initialAccessTokens.length === 0 &&
    needs.includes('secret')
  )
}

function findMissing(values: Variables, needs: readonly Need[]): VariableName[] {
  const absent = (names: readonly VariableName[]) => names.filter((name) => values[name] === null)
  const missing = absent(['DATABASE_URL'])
  if (needs.includes('secret')) missing.push(...absent(['TOLLGATE_SECRET']))
  if (needs.includes('url')) missing.push(...absent(['TOLLGATE_URL']))
  const receives = needs.includes('providers')
  if (!receives && !needs.includes('provider_keys')) return missing
  const begun = providerKeys.filter((names) => absent(names).length < names.length)
  const wanted = (begun.length === 0 ? providerKeys.slice(0, 1) : begun).flatMap(absent)
  return [...missing, ...wanted.filter((name) => receives || name !== 'STRIPE_WEBHOOK_SECRET')]
}

function refuse(mode: Mode, problems: readonly string[]): ConfigurationError {
  const why =
    mode === 'production'
      ? 'The service runs in production mode, because NODE_ENV=production or a key of Stripe or Braintree is set. Without these it runs as a demo, which needs no configuration.'
      : null
  return new ConfigurationError('The configuration is incomplete or invalid', { problems, why })
}

function resolveSecrets(values: Variables, mode: Mode): string[] {
  const made = values.TOLLGATE_SECRET === null && mode === 'demo'
  const current = made ? readOrCreateSecret(values.TOLLGATE_DATA_DIR) : values.TOLLGATE_SECRET
  const given = [current, values.TOLLGATE_PREVIOUS_SECRET, values.TOLLGATE_NEXT_SECRET]
  return given.filter((secret) => secret !== null)
}

function resolveStripeSettings(
  values: Variables,
  { currency }: Settings,
  needs: readonly Need[],
): StripeSettings | null {
  const { STRIPE_SECRET, STRIPE_WEBHOOK_SECRET, STRIPE_API_URL } = values
  // The command that registers the webhook endpoint runs before its secret exists.
  const given = STRIPE_WEBHOOK_SECRET ?? (needs.includes('provider_keys') ? 'none-yet' : null)
  if (STRIPE_SECRET === null || given === null) return null
  const webhookSecret = given.split(/[\s,]+/)
  const base = { secret: STRIPE_SECRET, webhookSecret, currency }
  if (STRIPE_API_URL === null) return base
  const { hostname, port, protocol } = new URL(STRIPE_API_URL)
  const scheme = protocol === 'https:' ? 'https' : 'http'
  return {
    ...base,
    config: { host: hostname, port: port || (scheme === 'https' ? 443 : 80), protocol: scheme },
  }
}

function resolveBraintreeSettings(values: Variables, { currency }: Settings): Config['braintree'] {
  const environment = values.BRAINTREE_ENVIRONMENT
  const merchantId = values.BRAINTREE_MERCHANT_ID
  const publicKey = values.BRAINTREE_PUBLIC_KEY
  const privateKey = values.BRAINTREE_PRIVATE_KEY
  if (!environment || !merchantId || !publicKey || !privateKey) return null
  const apiUrl = values.BRAINTREE_API_URL
  return { environment, merchantId, publicKey, privateKey, currency, apiUrl }
}

/** The providers that have keys. A demo has none, and its page hides what a provider cannot sell. */
function providersOf(values: Variables): ('stripe' | 'braintree')[] {
  return [
    ...(values.STRIPE_SECRET === null ? [] : (['stripe'] as const)),
    ...(values.BRAINTREE_MERCHANT_ID === null ? [] : (['braintree'] as const)),
  ]
}

/** The mail server. Mail and password leave this machine encrypted, unless that is switched off. */
function resolveSmtpSettings(values: Variables): Config['smtp'] {
  const { TOLLGATE_SMTP_URL: server, TOLLGATE_SMTP_TLS: tls, TOLLGATE_MAIL_FROM: from } = values
  if (server === null || from === null) return null
  return { ...server, from, needsTls: tls === null ? !isLoopback(server.host) : tls === 'required' }
}

const isLoopback = (host: string) =>
  host.toLowerCase() === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))

const THIS_MACHINE: readonly string[] = ['127.0.0.1', 'localhost', '::1']

/**
 * Combines the settings for clients that register themselves. By default they are allowed only in a
 * demo that listens on this machine.
 */
function resolveSelfRegisteredSettings(
  values: Variables,
  { selfRegistered, scopes, openid, identityScopes, mcpServers }: Settings,
  mode: Mode,
): SelfRegistered {
  const closed = { policy: 'closed', documents: false, scopes: [], resources: null } as const
  const open: SelfRegisteredSettings = {
    policy: 'open',
    documents: true,
    scopes: [...Object.keys(scopes), ...(openid ? ['openid', ...identityScopes] : [])],
    resources: null,
  }
  const ofMcp = Object.values(mcpServers ?? {}).flatMap((server) => server.scopes)
  const isTried = mode === 'demo' && THIS_MACHINE.includes(values.HOST)
  const said = selfRegistered ?? (isTried ? open : closed)
  return {
    policy: values.TOLLGATE_CLIENT_REGISTRATION ?? said.policy,
    // Clients of MCP servers identify themselves by metadata documents where registration is
    // closed.
    documents: (values.TOLLGATE_CLIENT_DOCUMENTS ?? said.documents) || mcpServers !== null,
    scopes: [...new Set([...(values.TOLLGATE_SELF_REGISTERED_SCOPES ?? said.scopes), ...ofMcp])],
    resources: said.resources ?? (mcpServers && Object.keys(mcpServers)),
    initialAccessTokens: values.TOLLGATE_INITIAL_ACCESS_TOKENS ?? [],
  }
}

const LOOPBACK = ['127.0.0.0/8', '::1']

/**
 * Combines the endpoints for outgoing events: those of the environment win. A demo may send to this
 * machine, where the application is being tried.
 */
function resolveDeliverySettings(
  values: Variables,
  { endpoints, privateAddresses, certificates }: DeliverySettings,
  mode: Mode,
): DeliveryOptions {
  const {
    TOLLGATE_DELIVERIES_URL: url,
    TOLLGATE_DELIVERIES_SECRET: secret,
    TOLLGATE_DELIVERIES_TYPES: types,
  } = values
  const opened = values.TOLLGATE_DELIVERIES_PRIVATE_ADDRESSES ?? privateAddresses
  return {
    endpoints: url && secret ? [{ url, secret, ...(types ? { types } : {}) }] : endpoints,
    privateAddresses: mode === 'demo' ? [...opened, ...LOOPBACK] : opened,
    certificates,
  }
}
