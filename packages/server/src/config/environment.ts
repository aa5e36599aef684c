import type { StripeSettings } from '@tollgate/billing'
import { ConfigurationError } from '../configuration-error.ts'
import type { Config, Mode, Need, SelfRegistered } from './config.ts'
import { keptSecret, secretProblem } from './demo-secret.ts'
import { didYouMean } from './did-you-mean.ts'
import { applyFapi2, findFapi2Problems } from './fapi2.ts'
import { deliveriesOf, overrideSettings, selfRegisteredOf } from './overrides.ts'
import type { Settings } from './settings.ts'
import { parseVariables, type VariableName, type Variables, variables } from './variables.ts'

const STRIPE: readonly VariableName[] = ['STRIPE_SECRET', 'STRIPE_WEBHOOK_SECRET']
const BRAINTREE: readonly VariableName[] = [
  'BRAINTREE_ENVIRONMENT',
  'BRAINTREE_MERCHANT_ID',
  'BRAINTREE_PUBLIC_KEY',
  'BRAINTREE_PRIVATE_KEY',
]

const TOKENS: VariableName = 'TOLLGATE_INITIAL_ACCESS_TOKENS'
const DELIVERY_URL = 'TOLLGATE_DELIVERIES_URL' as const
const DELIVERY_SECRET = 'TOLLGATE_DELIVERIES_SECRET' as const

/**
 * It is production as soon as NODE_ENV says so or a payment provider's key is given: then nothing is
 * made up, and whatever is missing is named.
 */
export function readEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  options: { readonly settings: Settings; readonly needs: readonly Need[] },
): Config {
  const parsed = parseVariables(environment)
  const { values } = parsed
  const problems = [...parsed.problems]
  const mode = modeOf(values)
  const chosen = overrideSettings(options.settings, values)
  problems.push(...findFapi2Problems(chosen))
  const settings = applyFapi2(chosen)
  const selfRegistered = selfRegisteredOf(values, settings, mode)
  const absent: VariableName[] = [
    ...(mode === 'demo' ? [] : findMissing(values, options.needs)),
    ...(needsTokens(selfRegistered, options.needs) ? [TOKENS] : []),
    ...(values[DELIVERY_URL] !== null && values[DELIVERY_SECRET] === null ? [DELIVERY_SECRET] : []),
  ]
  const missing = absent.filter((name) => !parsed.invalid.has(name))
  const weak = secretProblem(values, mode)
  if (weak) problems.push(weak)
  if (problems.length + missing.length > 0) throw refuse(mode, missing, problems)
  const dataDir = values.TOLLGATE_DATA_DIR ?? '.tollgate'
  const port = values.PORT ?? 3000
  return {
    mode,
    host: values.HOST ?? (mode === 'demo' ? '127.0.0.1' : '0.0.0.0'),
    port,
    url: values.TOLLGATE_URL ?? (port === 0 ? null : `http://localhost:${port}`),
    databaseUrl: values.DATABASE_URL ?? `sqlite:${dataDir}/tollgate.db`,
    dataDir,
    secrets: secretsOf(values, mode, dataDir),
    pairwiseSalt: values.TOLLGATE_PAIRWISE_SALT,
    selfRegistered,
    stripe: stripeOf(values, settings, options.needs),
    stripePublishableKey: values.STRIPE_PUBLISHABLE_KEY,
    braintree: braintreeOf(values, settings),
    deliveries: deliveriesOf(values, settings.deliveries, mode),
    trustedProxies: values.TOLLGATE_TRUSTED_PROXIES ?? [],
    metricsToken: values.TOLLGATE_METRICS_TOKEN,
    logLevel: values.TOLLGATE_LOG_LEVEL ?? (mode === 'demo' ? 'warn' : 'info'),
    drainSeconds: values.TOLLGATE_DRAIN_SECONDS ?? (mode === 'demo' ? 0 : 10),
    databaseWaitSeconds: values.TOLLGATE_DATABASE_WAIT_SECONDS ?? 30,
    maxClockSkewSeconds: values.TOLLGATE_MAX_CLOCK_SKEW_SECONDS ?? 60,
    sandboxPort: values.TOLLGATE_SANDBOX_PORT,
    warnings: [
      ...parsed.unknown.map(warnOfUnknown),
      ...warnOfTokens(selfRegistered),
      ...warnOfDeliveries(values),
    ],
    settings,
  }
}

function warnOfUnknown(name: string): string {
  const near = didYouMean(name, Object.keys(variables))
  return `${name} is no setting of Tollgate.${near || ' Is it misspelt?'}`
}

function warnOfTokens({ policy, initialAccessTokens }: SelfRegistered): string[] {
  if (policy === 'initial-access-token' || initialAccessTokens.length === 0) return []
  return [`${TOKENS} is not used: clients register by the policy ${policy}.`]
}

function warnOfDeliveries(values: Variables): string[] {
  const unused = ([DELIVERY_SECRET, 'TOLLGATE_DELIVERIES_TYPES'] as const).filter(
    (name) => values[DELIVERY_URL] === null && values[name] !== null,
  )
  return unused.map((name) => `${name} is not used: it goes with ${DELIVERY_URL}.`)
}

/** Only commands that make a server of it need them. */
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

function modeOf(values: Variables): Mode {
  const provider = [...STRIPE, ...BRAINTREE].some((name) => values[name] !== null)
  return provider || values.NODE_ENV === 'production' ? 'production' : 'demo'
}

function findMissing(values: Variables, needs: readonly Need[]): VariableName[] {
  const absent = (names: readonly VariableName[]) => names.filter((name) => values[name] === null)
  const missing = absent(['DATABASE_URL'])
  if (needs.includes('secret')) missing.push(...absent(['TOLLGATE_SECRET']))
  if (needs.includes('url')) missing.push(...absent(['TOLLGATE_URL']))
  const receives = needs.includes('providers')
  if (!receives && !needs.includes('provider_keys')) return missing
  const begun = [STRIPE, BRAINTREE].filter((names) => absent(names).length < names.length)
  const wanted = (begun.length === 0 ? [STRIPE] : begun).flatMap(absent)
  return [...missing, ...wanted.filter((name) => receives || name !== 'STRIPE_WEBHOOK_SECRET')]
}

function refuse(
  mode: Mode,
  missing: readonly VariableName[],
  problems: readonly string[],
): ConfigurationError {
  const hints: Partial<Record<VariableName, string>> = {
    DATABASE_URL: 'postgres://…, mysql://… or sqlite:/path/to/file.db',
    TOLLGATE_SECRET: '32 random characters or more: openssl rand -base64 32',
    TOLLGATE_INITIAL_ACCESS_TOKENS: 'what clients need to register; openssl rand -base64 32',
    TOLLGATE_URL: 'the public address, e.g. https://api.example.com',
    TOLLGATE_DELIVERIES_SECRET:
      'what events are signed with: echo "whsec_$(openssl rand -base64 32)"',
    STRIPE_SECRET: "Stripe's API secret key, sk_… (or give all of BRAINTREE_*)",
    STRIPE_WEBHOOK_SECRET:
      'of the webhook endpoint at Stripe, whsec_…: tollgate billing webhooks create',
  }
  const lines = [
    ...missing.map((name) => `  ${name} is missing${hints[name] ? `: ${hints[name]}` : ''}`),
    ...problems.map((problem) => `  ${problem}`),
  ]
  const why =
    mode === 'production'
      ? '\nThis is production, because NODE_ENV=production or a key of Stripe or Braintree is set. Without those it is a demo that needs nothing.'
      : ''
  return new ConfigurationError(`The configuration is incomplete:\n${lines.join('\n')}${why}`)
}

function secretsOf(values: Variables, mode: Mode, dataDir: string): string[] {
  const { TOLLGATE_SECRET, TOLLGATE_PREVIOUS_SECRET, TOLLGATE_NEXT_SECRET } = values
  const given = [TOLLGATE_SECRET, TOLLGATE_PREVIOUS_SECRET, TOLLGATE_NEXT_SECRET]
  const secrets = given.filter((secret) => secret !== null)
  return TOLLGATE_SECRET === null && mode === 'demo' ? [keptSecret(dataDir), ...secrets] : secrets
}

function stripeOf(
  values: Variables,
  { currency }: Settings,
  needs: readonly Need[],
): StripeSettings | null {
  const { STRIPE_SECRET, STRIPE_WEBHOOK_SECRET, STRIPE_API_URL } = values
  // Whoever registers the address has no secret of it yet.
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

function braintreeOf(values: Variables, { currency }: Settings): Config['braintree'] {
  const environment = values.BRAINTREE_ENVIRONMENT
  const merchantId = values.BRAINTREE_MERCHANT_ID
  const publicKey = values.BRAINTREE_PUBLIC_KEY
  const privateKey = values.BRAINTREE_PRIVATE_KEY
  if (!environment || !merchantId || !publicKey || !privateKey) return null
  const apiUrl = values.BRAINTREE_API_URL
  return { environment, merchantId, publicKey, privateKey, currency, apiUrl }
}
