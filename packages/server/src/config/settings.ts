import type { WebhookHandlers } from '@tollgate/billing'
import { type AccessTokenClaimsOption, refreshToken, type UserClaims } from '@tollgate/oauth'
import { z } from 'zod'
import type { User } from '../users/user.ts'
import { type DeliverySettings, deliveriesShape } from './deliveries.ts'
import { didYouMean } from './did-you-mean.ts'
import {
  outgoingShape,
  type StandardSettings,
  type StandardSettingsInput,
  selfRegisteredShape,
  standardShapes,
} from './standards.ts'

/** What people can subscribe to. The providers hold the price; this is what the pages show. */
export interface Plan {
  /** In addresses and forms, for example `pro`. */
  readonly id: string
  /** What people read. */
  readonly name: string
  /** In the currency's smallest unit, for every period. */
  readonly amount: number
  /** Months between two bills. */
  readonly months: number
  /** A sentence for people who choose. */
  readonly description: string
  /** Days before the first bill. */
  readonly trialDays: number
  /** Whether it is sold by the seat: people then choose a quantity. Stripe only. */
  readonly seats: boolean
  /** The price's id at Stripe. */
  readonly stripe: string
  /** The plan's id at Braintree. */
  readonly braintree: string
}

/** What `tollgate.config.ts` decides: the application's own words and prices. */
export interface Settings extends StandardSettings {
  /** Shown on every page. */
  readonly name: string
  /** Scope name to the description people read before they approve. */
  readonly scopes: Readonly<Record<string, string>>
  /** Scopes that people may leave out when they approve. */
  readonly optionalScopes: readonly string[]
  /** What is sold, in the order of the page. */
  readonly plans: readonly Plan[]
  /** Of all plans, three letters. */
  readonly currency: string
  /** 0 to 100 with at most two decimals, for subscription charges only. */
  readonly taxPercentage: (user: User) => number | Promise<number>
  /** Whom people ask who forgot their password: an e-mail address or a web address; null: nobody is named. */
  readonly support: string | null
  /** Whether strangers may make an account. */
  readonly registration: boolean
  /** Whether clients made for it may exchange a user's password for tokens. */
  readonly passwordGrant: boolean
  /** Whether clients made for it may get tokens straight from the approval. */
  readonly implicitGrant: boolean
  /** Whether clients made for it may let people type a code, for devices without a browser (RFC 8628). */
  readonly deviceGrant: boolean
  /** Whether clients made for it may exchange a user's token for one of their own (RFC 8693). */
  readonly exchangeGrant: boolean
  /** Whether other applications can sign people in here (OpenID Connect). */
  readonly openid: boolean
  /** What other applications learn of a person, beside name and e-mail address, each with its scope. */
  readonly claims: (user: User, scopes: readonly string[]) => UserClaims | Promise<UserClaims>
  /** Claims that access tokens get, fixed or by a function; null for none. */
  readonly accessTokenClaims: AccessTokenClaimsOption<User> | null
  /** Whether pages of registered clients may call from other origins (CORS). */
  readonly cors: boolean
  /** Who writes the invoices, and for what. */
  readonly invoice: { readonly vendor: string; readonly product: string }
  /** `'15d'` or seconds. */
  readonly accessTokensExpireIn: string | number
  /** `'60d'` or seconds: after that a refresh token that nobody used is worth nothing. */
  readonly refreshTokensExpireIn: string | number
  /** How long a used refresh token may come again until its successor is used; false: ten seconds. */
  readonly refreshTokensRepeatableFor: string | number | false
  /** The same for public clients. */
  readonly publicRefreshTokensRepeatableFor: string | number | false
  /** `handle<Event>` methods for the providers' webhooks. */
  readonly handlers: WebhookHandlers
  /** Where events of billing are sent, for an application in whatever language. */
  readonly deliveries: DeliverySettings
}

/** A plan as it is written there: what the pages show may be left out, and ids that equal its own. */
export type PlanInput = Pick<Plan, 'id' | 'name' | 'amount' | 'months'> & Partial<Plan>

/** As it is written in `tollgate.config.ts`: everything may be left out. */
export type SettingsInput = Partial<
  Omit<Settings, 'plans' | 'deliveries' | keyof StandardSettings>
> &
  StandardSettingsInput & {
    /** What is sold, in the order of the page. */
    readonly plans?: readonly PlanInput[]
    /** Where events of billing are sent, for an application in whatever language. */
    readonly deliveries?: Partial<DeliverySettings>
  }

/** Gives an editor the types of a `tollgate.config.ts`. */
export function defineConfig(settings: SettingsInput): SettingsInput {
  return settings
}

const lifetime = z.union([z.string().regex(/^\d+[smhdwy]$/), z.number().int().positive()])

/** What `refreshToken()` of `@tollgate/oauth` checks too; here it is said with the setting's own name. */
const repeatable = z.union([lifetime, z.literal(false)]).refine(
  (value) => {
    try {
      refreshToken({ repeatableFor: value })
      return true
    } catch {
      return false
    }
  },
  { message: "expected 10 seconds to 7 days, such as '24h', or false" },
)

const planShape = z.strictObject({
  id: z.string().min(1).max(64),
  name: z.string().min(1).max(100),
  amount: z.number().int().nonnegative(),
  months: z.number().int().min(1).max(12),
  description: z.string().max(500).default(''),
  trialDays: z.number().int().min(0).max(730).default(0),
  seats: z.boolean().default(false),
  stripe: z.string().min(1).optional(),
  braintree: z.string().min(1).optional(),
})

const plan = planShape.transform((value) => ({
  ...value,
  stripe: value.stripe ?? value.id,
  braintree: value.braintree ?? value.id,
}))

const invoiceShape = z.strictObject({ vendor: z.string().min(1), product: z.string().min(1) })

const callable = z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', {
  message: 'expected a function',
})

const shape = z.strictObject({
  name: z.string().min(1).max(60).default('Tollgate'),
  scopes: z
    .record(z.string(), z.string())
    .default({ 'place-orders': 'Place orders', 'check-status': 'Check order status' }),
  optionalScopes: z.array(z.string()).default([]),
  plans: z.array(plan).prefault([
    { id: 'monthly', name: 'Monthly', amount: 1000, months: 1, trialDays: 14 },
    { id: 'pro', name: 'Pro', amount: 2500, months: 1, seats: true },
    { id: 'yearly', name: 'Yearly', amount: 10_000, months: 12 },
  ]),
  currency: z
    .string()
    .regex(/^[a-z]{3}$/i, 'expected three letters such as usd')
    .toLowerCase()
    .default('usd'),
  taxPercentage: callable.default(() => () => 0),
  support: z
    .union([z.email(), z.url({ protocol: /^https?$/ })], {
      error: 'expected an e-mail address or a web address',
    })
    .nullable()
    .default(null),
  registration: z.boolean().default(true),
  passwordGrant: z.boolean().default(true),
  implicitGrant: z.boolean().default(true),
  deviceGrant: z.boolean().default(true),
  exchangeGrant: z.boolean().default(true),
  openid: z.boolean().default(true),
  claims: callable.default(() => () => ({})),
  accessTokenClaims: z
    .union([callable, z.record(z.string(), z.unknown())])
    .nullable()
    .default(null),
  cors: z.boolean().default(false),
  ...standardShapes,
  invoice: invoiceShape.default({ vendor: 'Tollgate', product: 'Subscription' }),
  accessTokensExpireIn: lifetime.default('365d'),
  refreshTokensExpireIn: lifetime.default('365d'),
  refreshTokensRepeatableFor: repeatable.default('24h'),
  publicRefreshTokensRepeatableFor: repeatable.default('1h'),
  handlers: z.custom<WebhookHandlers>((value) => typeof value === 'object').default({}),
  deliveries: deliveriesShape.prefault({}),
})

/** Settings that have members of their own. */
const GROUPS: Readonly<Record<string, { readonly shape: object }>> = {
  plans: planShape,
  invoice: invoiceShape,
  selfRegistered: selfRegisteredShape,
  outgoing: outgoingShape,
  deliveries: deliveriesShape,
}

/** Fills in what was left out. Says everything that is wrong at once, and where it stands. */
export function parseSettings(input: unknown, source = 'tollgate.config.ts'): Settings {
  const parsed = shape.safeParse(input ?? {})
  if (parsed.success) return parsed.data as unknown as Settings
  const lines = parsed.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => unknownKey(issue.path, key))
      : `  ${issue.path.join('.') || '(the file)'}: ${issue.message}`,
  )
  throw new TypeError(`${source} cannot be used:\n${lines.join('\n')}`)
}

function unknownKey(path: readonly PropertyKey[], key: string): string {
  const known = path[0] === undefined ? shape : GROUPS[path[0].toString()]
  const name = [...path, key].join('.')
  return `  ${name}: there is no such setting.${didYouMean(key, Object.keys(known?.shape ?? {}))}`
}
