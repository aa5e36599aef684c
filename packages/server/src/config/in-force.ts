import { isDeepStrictEqual } from 'node:util'
import type { Config } from './config.ts'
import { applyFapi2 } from './fapi2.ts'
import { type Settings, settingRows } from './settings.ts'
import { formatMailAddress } from './values.ts'
import { type VariableName, variableOf, variableRows } from './variables.ts'

/** A setting in force, as operators see it. */
export interface EffectiveSetting {
  /** Name in `tollgate.config.ts`, or of the environment variable. */
  readonly name: string
  /** The variable that sets it. `null` if it is set in the file only. */
  readonly variable: string | null
  /** Source of the value. A file that states the default counts as `default`. */
  readonly source: 'environment' | 'file' | 'fapi2' | 'default'
  /** The value as JSON. A secret is shown as `'set'` or `null`, a function as its kind. */
  readonly value: unknown
}

const SECRET = 'secret'
const SET = 'set'

/** How to read the effective value of each variable. Those marked as secret are never shown. */
const VARIABLES: Readonly<Record<VariableName, ((config: Config) => unknown) | typeof SECRET>> = {
  NODE_ENV: ({ mode }) => mode,
  PORT: ({ port }) => port,
  HOST: ({ host }) => host,
  TOLLGATE_WORKERS: ({ workers }) => workers,
  // Contains a password.
  DATABASE_URL: SECRET,
  TOLLGATE_DATA_DIR: ({ dataDir }) => dataDir,
  TOLLGATE_SECRET: SECRET,
  TOLLGATE_PREVIOUS_SECRET: SECRET,
  TOLLGATE_NEXT_SECRET: SECRET,
  TOLLGATE_URL: ({ url }) => url,
  TOLLGATE_CONFIG: () => null,
  TOLLGATE_PAIRWISE_SALT: SECRET,
  TOLLGATE_CLIENT_REGISTRATION: ({ selfRegistered }) => selfRegistered.policy,
  TOLLGATE_INITIAL_ACCESS_TOKENS: SECRET,
  TOLLGATE_CLIENT_DOCUMENTS: ({ selfRegistered }) => selfRegistered.documents,
  TOLLGATE_SELF_REGISTERED_SCOPES: ({ selfRegistered }) => selfRegistered.scopes,
  TOLLGATE_PRIVATE_ADDRESSES: ({ settings }) => settings.outgoing.privateAddresses,
  TOLLGATE_DELIVERIES_URL: ({ deliveries }) => deliveries.endpoints?.map(({ url }) => url) ?? [],
  TOLLGATE_DELIVERIES_SECRET: SECRET,
  TOLLGATE_DELIVERIES_TYPES: ({ deliveries }) =>
    deliveries.endpoints?.map(({ types }) => types ?? 'all') ?? [],
  TOLLGATE_DELIVERIES_PRIVATE_ADDRESSES: ({ deliveries }) => deliveries.privateAddresses,
  // Contains a password.
  TOLLGATE_SMTP_URL: SECRET,
  TOLLGATE_SMTP_TLS: ({ smtp }) => smtp && (smtp.needsTls ? 'required' : 'off'),
  TOLLGATE_MAIL_FROM: ({ smtp }) => smtp && formatMailAddress(smtp.from),
  TOLLGATE_TRUSTED_PROXIES: ({ trustedProxies }) => trustedProxies,
  TOLLGATE_METRICS_TOKEN: SECRET,
  TOLLGATE_MAX_CLOCK_SKEW_SECONDS: ({ maxClockSkewSeconds }) => maxClockSkewSeconds,
  TOLLGATE_DRAIN_SECONDS: ({ drainSeconds }) => drainSeconds,
  TOLLGATE_DATABASE_WAIT_SECONDS: ({ databaseWaitSeconds }) => databaseWaitSeconds,
  TOLLGATE_SANDBOX_PORT: ({ sandboxPort }) => sandboxPort,
  STRIPE_SECRET: SECRET,
  STRIPE_WEBHOOK_SECRET: SECRET,
  STRIPE_PUBLISHABLE_KEY: ({ stripePublishableKey }) => stripePublishableKey,
  STRIPE_API_URL: ({ stripe }) => {
    const { protocol = 'https', host, port } = stripe?.config ?? {}
    return host === undefined ? null : `${protocol}://${host}${port ? `:${port}` : ''}`
  },
  BRAINTREE_ENVIRONMENT: ({ braintree }) => braintree?.environment ?? null,
  BRAINTREE_MERCHANT_ID: ({ braintree }) => braintree?.merchantId ?? null,
  BRAINTREE_PUBLIC_KEY: ({ braintree }) => braintree?.publicKey ?? null,
  BRAINTREE_PRIVATE_KEY: SECRET,
  BRAINTREE_API_URL: ({ braintree }) => braintree?.apiUrl ?? null,
}

/**
 * Whether the variable has a value although it is not set in the environment, for example one that
 * a demo generated.
 */
const GENERATED: Partial<Record<VariableName, (config: Config) => boolean>> = {
  DATABASE_URL: () => true,
  TOLLGATE_SECRET: ({ secrets }) => secrets.length > 0,
}

/** Lists every setting with its source, without any secret. */
export function listEffectiveSettings(config: Config): EffectiveSetting[] {
  return [...listEffectiveVariables(config), ...listEffectiveFileSettings(config)]
}

function listEffectiveVariables(config: Config): EffectiveSetting[] {
  return [...variableRows.keys()].map((name) => {
    const read = VARIABLES[name as VariableName]
    const isGiven = config.given.has(name)
    const isSet = isGiven || (GENERATED[name as VariableName]?.(config) ?? false)
    const value = read === SECRET ? (isSet ? SET : null) : redactSecretValues(read(config))
    return { name, variable: name, source: isGiven ? 'environment' : 'default', value }
  })
}

function listEffectiveFileSettings(config: Config): EffectiveSetting[] {
  const defaults = Object.fromEntries(
    [...settingRows].map(([name, { file }]) => [name, file.parse(undefined)]),
  )
  const required = applyFapi2({ ...(defaults as Settings), fapi2: true })
  const forced = new Map(Object.entries(required))
  return Object.entries(config.settings).map(([name, value]) => {
    const variable = settingRows.get(name)?.text ? variableOf(name) : null
    const isForced =
      config.settings.fapi2 &&
      name !== 'fapi2' &&
      !isDeepStrictEqual(forced.get(name), defaults[name]) &&
      isDeepStrictEqual(value, forced.get(name))
    const source = isForced
      ? 'fapi2'
      : variable !== null && config.given.has(variable)
        ? 'environment'
        : isSame(value, defaults[name])
          ? 'default'
          : 'file'
    return { name, variable, source, value: redactSecretValues(value) }
  })
}

/** Whether a value equals the default. Functions are compared by their source text. */
function isSame(value: unknown, fallback: unknown): boolean {
  if (typeof value !== 'function' || typeof fallback !== 'function') {
    return isDeepStrictEqual(value, fallback)
  }
  return String(value) === String(fallback)
}

const SECRET_NAME = /secret|password|passphrase|private_?key|token$|tokens$|^(d|p|q|dp|dq|qi|k)$/i
const DEEPEST = 8

/** Returns a value as JSON: secrets as `'set'`, functions as their kind. */
export function redactSecretValues(value: unknown, name = '', depth = 0): unknown {
  if (value === null || value === undefined) return null
  if (SECRET_NAME.test(name) && typeof value !== 'boolean') return SET
  if (typeof value === 'function') return '(a function)'
  if (typeof value === 'string') return withoutPassword(value)
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value)
  if (typeof value !== 'object') return value
  if (value instanceof Date) return value.toISOString()
  if (depth >= DEEPEST) return '(nested too deeply)'
  if (Array.isArray(value)) return value.map((each) => redactSecretValues(each, '', depth + 1))
  if (value instanceof Set || value instanceof Map)
    return redactSecretValues([...value], '', depth + 1)
  if (![Object.prototype, null].includes(Object.getPrototypeOf(value))) return '(an object)'
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, redactSecretValues(each, key, depth + 1)]),
  )
}

/** Hides the password and the query values of a URL. */
function withoutPassword(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return text
  const url = new URL(text)
  if (url.password === '' && url.search === '') return text
  if (url.password !== '') url.password = SET
  for (const name of [...url.searchParams.keys()]) url.searchParams.set(name, SET)
  return url.href
}
