import { isDeliverySecret } from '@tollgate/billing'
import { findDatabaseFile } from '@tollgate/database'
import { z } from 'zod'
import { isHost, isNetwork } from './addresses.ts'
import { eventTypes, SECRET_WANTED } from './deliveries.ts'
import {
  algorithms,
  assertionLife,
  guardReplays,
  identityScopes,
  registrationPolicies,
  responseTypes,
  tokenTypes,
} from './standards.ts'

const text = z.string().trim().min(1, 'is blank')
const secret = z.string().refine((value) => value.trim().length >= 32, {
  message: 'needs at least 32 random characters, e.g. from `openssl rand -base64 32`',
})
const wholeNumber = (from: number, to: number) =>
  z
    .string()
    .refine((value) => /^\d+$/.test(value) && Number(value) >= from && Number(value) <= to, {
      error: ({ input }) => `is '${input}', and expects a whole number from ${from} to ${to}`,
    })
    .transform(Number)
const ON: readonly string[] = ['on', 'true', '1']
const OFF: readonly string[] = ['off', 'false', '0']
const lowerCase = z.string().transform((value) => value.toLowerCase())
const onOff = lowerCase
  .refine((value) => [...ON, ...OFF].includes(value), 'expects on or off')
  .transform((value) => ON.includes(value))
/** Of what may be more than on. */
const onOffOr = <More extends string>(more: More) =>
  lowerCase
    .refine((value) => [...ON, ...OFF, more].includes(value), `expects on, off or ${more}`)
    .transform((value): boolean | More => (value === more ? more : ON.includes(value)))
const onOffOrHosts = lowerCase
  .transform((value) =>
    [...ON, ...OFF].includes(value) ? ON.includes(value) : value.split(/[\s,]+/).filter(Boolean),
  )
  .refine((value) => typeof value === 'boolean' || value.every(isHost), {
    message: 'expects on, off or hosts such as app.example.com',
  })
const secrets = z
  .string()
  .transform((value) => value.split(/[\s,]+/).filter(Boolean))
  .refine((list) => list.length > 0 && list.every((each) => each.length >= 32), {
    message: 'needs tokens of at least 32 random characters, separated by commas',
  })
const names = z.string().transform((value) => value.split(/[\s,]+/).filter(Boolean))
/** Several of what is known, separated by commas; a blank is part of a name. */
const someOf = <Known extends string>(known: readonly Known[]) =>
  z
    .string()
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim().replace(/\s+/g, ' '))
        .filter(Boolean),
    )
    .refine((list): list is Known[] => list.every((each) => known.some((name) => name === each)), {
      message: `expects some of ${known.join(', ')}, separated by commas`,
    })
/** An address and its scopes, separated by blanks; the next server after a comma. */
const mcpServers = z
  .string()
  .transform((value) =>
    value
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean)
      .map((part) => part.split(/\s+/)),
  )
  .refine((list) => list.every(([uri = '', ...scopes]) => URL.canParse(uri) && scopes.length > 0), {
    message: 'expects servers such as https://api.example.com/mcp read-orders, separated by commas',
  })
  .transform((list) =>
    list.length === 0
      ? null
      : Object.fromEntries(list.map(([uri = '', ...scopes]) => [uri, { scopes }])),
  )
const url = z
  .string()
  .refine((value) => /^https?:\/\//.test(value) && URL.canParse(value), 'expects an http(s) URL')
  .transform((value) => value.replace(/\/+$/, ''))
const origin = url.refine((value) => new URL(value).pathname === '/', {
  message: 'expects an address without a path: the service takes a whole host',
})
const addresses = z
  .string()
  .transform((value) => value.split(/[\s,]+/).filter(Boolean))
  .refine((list) => list.every(isNetwork), 'expects addresses or networks such as 10.0.0.0/8')

/** Says what is wrong, without the value: it may hold a password. */
const databaseUrl = text.superRefine((value, check) => {
  try {
    findDatabaseFile(value)
  } catch {
    const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(value) ?? []
    const given = scheme === undefined ? 'names no kind of database' : `begins with ${scheme}:`
    const message = `${given}, and expects postgres://…, mysql://… or sqlite:/path/to/file.db`
    check.addIssue({ code: 'custom', message })
  }
})
const stripeSecret = text.regex(/^(?:sk|rk)_\w+$/, "expects Stripe's secret key, sk_… or rk_…")
const stripeWebhookSecret = text.refine(
  (value) => value.split(/[\s,]+/).every((each) => /^whsec_\S+$/.test(each)),
  "expects the endpoint's signing secret, whsec_…; several are separated by commas",
)

/** Its path stays as it is, a slash at its end too. */
const deliveryUrl = z
  .string()
  .refine((value) => /^https?:\/\//.test(value) && URL.canParse(value), 'expects an http(s) URL')
const deliverySecrets = names.refine(
  (list) => list.length > 0 && list.every(isDeliverySecret),
  `expects ${SECRET_WANTED}; several are separated by commas`,
)

/** Every variable the service reads. `docs/reference/service.md` lists the same ones. */
export const variables = {
  NODE_ENV: text,
  PORT: wholeNumber(0, 65_535),
  HOST: text,
  DATABASE_URL: databaseUrl,
  TOLLGATE_DATA_DIR: text,
  TOLLGATE_SECRET: secret,
  TOLLGATE_PREVIOUS_SECRET: secret,
  TOLLGATE_NEXT_SECRET: secret,
  TOLLGATE_URL: origin,
  TOLLGATE_CONFIG: text,
  TOLLGATE_REGISTRATION: onOff,
  TOLLGATE_PASSWORD_GRANT: onOff,
  TOLLGATE_IMPLICIT_GRANT: onOff,
  TOLLGATE_DEVICE_GRANT: onOff,
  TOLLGATE_EXCHANGE_GRANT: onOff,
  TOLLGATE_OPTIONAL_SCOPES: names,
  TOLLGATE_OPENID: onOff,
  TOLLGATE_ID_TOKEN_ALGORITHM: z.enum(algorithms, { message: `expects ${algorithms.join(', ')}` }),
  TOLLGATE_CLAIMS_IN_ID_TOKEN: onOff,
  TOLLGATE_IDENTITY_SCOPES: someOf(identityScopes),
  TOLLGATE_RESPONSE_TYPES: someOf(responseTypes),
  TOLLGATE_PAIRWISE_SALT: secret,
  TOLLGATE_CORS: onOff,
  TOLLGATE_CLIENT_REGISTRATION: z.enum(registrationPolicies, {
    message: `expects ${registrationPolicies.join(', ')}`,
  }),
  TOLLGATE_INITIAL_ACCESS_TOKENS: secrets,
  TOLLGATE_CLIENT_DOCUMENTS: onOffOrHosts,
  TOLLGATE_SELF_REGISTERED_SCOPES: names,
  TOLLGATE_MCP_SERVERS: mcpServers,
  TOLLGATE_CLIENT_LOGOS: onOff,
  TOLLGATE_CLIENT_ASSERTIONS: onOffOr('shared-secrets'),
  TOLLGATE_CLIENT_ASSERTIONS_EXPIRE_IN: assertionLife,
  TOLLGATE_PUSHED_REQUESTS: onOffOr('required'),
  TOLLGATE_REQUEST_OBJECTS: onOffOr('required'),
  TOLLGATE_REQUEST_OBJECTS_BY_REFERENCE: onOff,
  TOLLGATE_UNSIGNED_REQUEST_OBJECTS: onOff,
  TOLLGATE_DPOP: onOffOr('required'),
  TOLLGATE_DPOP_NONCES: onOff,
  TOLLGATE_DPOP_GUARD_REPLAYS: z.enum(guardReplays, {
    message: `expects ${guardReplays.join(' or ')}`,
  }),
  TOLLGATE_FAPI2: onOff,
  TOLLGATE_STEP_UP: onOff,
  TOLLGATE_SIGNED_INTROSPECTION: onOff,
  TOLLGATE_PRIVATE_ADDRESSES: addresses,
  TOLLGATE_SIGNING_ALGORITHM: z.enum(algorithms, { message: `expects ${algorithms.join(', ')}` }),
  TOLLGATE_TOKEN_TYPE: z.enum(tokenTypes, { message: `expects ${tokenTypes.join(' or ')}` }),
  TOLLGATE_DELIVERIES_URL: deliveryUrl,
  TOLLGATE_DELIVERIES_SECRET: deliverySecrets,
  TOLLGATE_DELIVERIES_TYPES: someOf(eventTypes),
  TOLLGATE_DELIVERIES_PRIVATE_ADDRESSES: addresses,
  TOLLGATE_TRUSTED_PROXIES: addresses,
  TOLLGATE_METRICS_TOKEN: z.string().min(16, 'needs at least 16 characters'),
  TOLLGATE_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
    message: 'expects fatal, error, warn, info, debug or silent',
  }),
  TOLLGATE_MAX_CLOCK_SKEW_SECONDS: wholeNumber(1, 3600),
  TOLLGATE_DRAIN_SECONDS: wholeNumber(0, 600),
  TOLLGATE_DATABASE_WAIT_SECONDS: wholeNumber(0, 3600),
  TOLLGATE_SANDBOX_PORT: wholeNumber(0, 65_535),
  STRIPE_SECRET: stripeSecret,
  STRIPE_WEBHOOK_SECRET: stripeWebhookSecret,
  STRIPE_PUBLISHABLE_KEY: z.string().regex(/^pk_\w+$/, "expects Stripe's publishable key, pk_…"),
  STRIPE_API_URL: url,
  BRAINTREE_ENVIRONMENT: z.enum(['sandbox', 'production'], {
    message: 'expects sandbox or production',
  }),
  BRAINTREE_MERCHANT_ID: text,
  BRAINTREE_PUBLIC_KEY: text,
  BRAINTREE_PRIVATE_KEY: text,
  BRAINTREE_API_URL: url,
} as const

export type VariableName = keyof typeof variables
export type Variables = {
  readonly [Name in VariableName]: z.output<(typeof variables)[Name]> | null
}

/** The variables, each parsed; problems name the variable and never its value. */
export function parseVariables(environment: Readonly<Record<string, string | undefined>>): {
  readonly values: Variables
  readonly problems: readonly string[]
  /** Given, and wrong: they are not missing. */
  readonly invalid: ReadonlySet<string>
  /** Names that look like ours and are not. */
  readonly unknown: readonly string[]
} {
  const problems: string[] = []
  const invalid = new Set<string>()
  const entries = Object.entries(variables).map(([name, schema]) => {
    const given = environment[name]
    if (given === undefined || given === '') return [name, null]
    const parsed = schema.safeParse(given)
    if (parsed.success) return [name, parsed.data]
    problems.push(`${name} ${parsed.error.issues[0]?.message ?? 'cannot be read'}`)
    invalid.add(name)
    return [name, null]
  })
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith('TOLLGATE_') && !Object.hasOwn(variables, name),
  )
  return { values: Object.fromEntries(entries) as Variables, problems, invalid, unknown }
}
