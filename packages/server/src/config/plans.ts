import type { MeteredPrice, UsageTier } from '@tollgate/billing'
import { z } from 'zod'
import type { User } from '../users/user.ts'
import { checkPlan, checkPlans } from './plan-checks.ts'
import { callable, known, list } from './row.ts'

// The plans of tollgate.config.ts, and the list of what the pages sell: a plan with several billing
// intervals becomes one `Plan` for each interval.

/** The largest quantity of a plan. */
export const MAX_QUANTITY = 10_000

const AMOUNT =
  'expected a whole number in the smallest unit of the currency, such as 2900 for 29.00'
const amount = z.number({ error: AMOUNT }).int(AMOUNT).nonnegative(AMOUNT)
const decimal = z.custom<number | string>(
  (value) => /^(number|string)$/.test(typeof value) && /^\d{1,12}(\.\d{1,12})?$/.test(`${value}`),
  "expected an amount in the smallest unit of the currency, such as 20 or '0.5'",
)
const MONTHS = 'expected the length of a billing period in months, 1 to 12'
const months = z.number({ error: MONTHS }).int(MONTHS).min(1, MONTHS).max(12, MONTHS)

const tier = z.strictObject({
  /** The last unit of the tier. `null` for the last tier. */
  upTo: z.number().int().positive().nullable(),
  /** Price of each unit, in the currency's smallest unit; as text with up to 12 decimals. */
  unitAmount: decimal.optional(),
  /** Flat price of the tier, in the currency's smallest unit. */
  flatAmount: decimal.optional(),
})

/** The cost of a price, and its ids at the providers. */
const terms = {
  /**
   * Price of one unit per billing period, in the currency's smallest unit. A price has either
   * `amount`, `tiers` or `unitAmount`.
   */
  amount: amount.optional(),
  /**
   * Prices by quantity, in ascending order; the last tier has `upTo: null`. With `meter`, prices by
   * usage.
   */
  tiers: z.array(tier).min(1, 'expected at least one tier').readonly().optional(),
  /**
   * `graduated`: the units in each tier are charged at that tier's price. `volume`: all units are
   * charged at the price of the tier that the total reaches.
   * @default 'graduated'
   */
  mode: known(['graduated', 'volume']).optional(),
  /** Name of the meter that counts the usage. The price is then charged by usage. */
  meter: z.string().min(1).optional(),
  /** Price per unit of usage, in the smallest unit; as text with up to 12 decimals. */
  unitAmount: decimal.optional(),
  /** The name of one unit of usage, such as `call`, shown on the pages. */
  unit: z.string().min(1).max(60).optional(),
  /**
   * Units of usage that are free in each billing period.
   * @default 0
   */
  included: z.number().int().nonnegative().optional(),
  /**
   * Number of units that `unitAmount` pays for. A package that was started is charged in full.
   * @default 1
   */
  packageSize: z.number().int().min(1).optional(),
  /**
   * The price id at Stripe. `null` if it is not sold there.
   * @default the value of `id`
   */
  stripe: z.string().min(1).nullable().optional(),
  /**
   * The plan id at Braintree; of an additional price, the id of its add-on. `null` if it is not
   * sold there.
   * @default the value of `id`
   */
  braintree: z.string().min(1).nullable().optional(),
}

const price = z.strictObject({
  /** The id of the price. */
  id: z.string().min(1).max(64),
  /** The name shown on the pages, such as `API calls`. */
  name: z.string().min(1).max(100),
  ...terms,
})

const interval = z.strictObject({
  /**
   * The id in URLs and forms.
   * @default the id of the plan followed by `-monthly`, `-yearly` or `-3-months`
   */
  id: z.string().min(1).max(64).optional(),
  /** Billing interval in months. */
  months,
  ...terms,
  /**
   * Prices that are charged in addition.
   * @default the `prices` of the plan
   */
  prices: z.array(price).readonly().optional(),
})

const SEATS =
  'expected true, false, a fixed quantity such as 5, { min, max }, or a function of the user'
const quantity = z
  .number({ error: SEATS })
  .int(SEATS)
  .min(1, SEATS)
  .max(MAX_QUANTITY, `expected at most ${MAX_QUANTITY}`)
const seats = z
  .union(
    [
      z.boolean(),
      quantity,
      z.strictObject({ min: quantity.optional(), max: quantity.optional() }),
      callable<(user: User) => number | Promise<number>>(),
    ],
    { error: SEATS },
  )
  .default(false)

/** The limits of a plan: scopes, quotas and a rate. The gate parses the texts. */
const gateTerms = {
  /**
   * Scopes that tokens of people on the plan may use. Others of their scopes are withheld.
   * @default every scope
   */
  scopes: z.array(z.string().min(1)).readonly().optional(),
  /**
   * Quota by meter, such as `{ calls: '1000/month' }`: a whole number and `minute`, `hour`, `day`,
   * `month` or `period`; a number for a gauge; or `unlimited`. A meter that is not listed must not
   * be used.
   * @default none
   */
  quota: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .readonly()
    .optional(),
  /**
   * How fast people on the plan may be, such as `5/second`.
   * @default no limit
   */
  rate: z.string().min(1).optional(),
}

/** The plan of people without a subscription. */
export const freePlan = z.strictObject({
  /**
   * The name shown on the pages.
   * @default `Free`, in the language of the page
   */
  name: z.string().min(1).max(100).exactOptional(),
  /**
   * The features of the plan, shown as a list.
   * @default none
   */
  features: list(z.string().min(1).max(200)),
  ...gateTerms,
})

const METER_KINDS = ['sum', 'count', 'gauge'] as const
const OVER_QUOTA = ['refuse', 'cap', 'bill'] as const

/** The meters, which count per person, by name. */
export const meters = z.record(
  z
    .string()
    .regex(/^[a-z][\w-]{0,63}$/i, 'expected a name of letters, digits, - and _, such as calls'),
  z.strictObject({
    /**
     * How it counts: `sum` adds amounts, `count` adds one per call, `gauge` is a level.
     * @default 'sum'
     */
    kind: known(METER_KINDS).exactOptional(),
    /** The name on the pages, such as `API calls`. @default the name of the meter */
    name: z.string().min(1).max(100).exactOptional(),
    /** The name of one unit on the pages, such as `tokens`. */
    unit: z.string().min(1).max(60).exactOptional(),
    /**
     * Treatment of use beyond the quota: `refuse`, `cap` (grant what is left) or `bill` (admit).
     * @default 'refuse'
     */
    over: known(OVER_QUOTA).exactOptional(),
  }),
)

export const plan = z
  .strictObject({
    /** The id in URLs and forms, such as `pro`. */
    id: z.string().min(1).max(64),
    /** The name shown on the pages. */
    name: z.string().min(1).max(100),
    /**
     * A sentence that helps people choose, shown on the pages.
     * @default ''
     */
    description: z.string().max(500).default(''),
    /**
     * The features of the plan, shown as a list.
     * @default none
     */
    features: list(z.string().min(1).max(200)),
    /** Billing interval in months. */
    months: months.optional(),
    ...terms,
    /** Alternative to `months` and a price: several billing intervals, each with its own price. */
    intervals: z.array(interval).min(1).readonly().optional(),
    /**
     * Prices that are charged in addition to the main price: fixed, or by usage.
     * @default none
     */
    prices: list(price),
    /**
     * Length of the trial in days.
     * @default 0
     */
    trialDays: z.number().int().min(0).max(730).default(0),
    /**
     * Whether people can enter a code for a discount.
     * @default true
     */
    promotionCodes: z.boolean().default(true),
    /**
     * The quantity that is charged, which needs a provider with quantities (Stripe): a fixed
     * number; `true` or `{ min, max }` if people choose it; or a function that counts it, such as
     * the members of a team.
     * @default false, which is a quantity of one
     */
    seats,
    ...gateTerms,
  })
  .superRefine(checkPlan, { when: () => true })

export const plans = z
  .array(plan)
  .readonly()
  .superRefine(checkPlans, { when: () => true })
  .transform((all) => all.flatMap(offersOf))

/** A price in the configuration. The providers hold the price that is charged. */
export interface PriceTerms {
  /** The price id at Stripe. `null` if it is not sold there. */
  readonly stripe: string | null
  /** The id of the plan or add-on at Braintree. `null` if it is not sold there. */
  readonly braintree: string | null
  /**
   * Price of one unit per billing period, in the currency's smallest unit. 0 if it depends on the
   * quantity or the usage.
   */
  readonly amount: number
  /** Price by quantity or usage. `null` if `amount` is the price of every unit. */
  readonly rates: MeteredPrice | null
  /** Name of the meter that counts the usage. `null` unless the price is charged by usage. */
  readonly meter: string | null
  /** Name of one unit of usage. `null` if it has none. */
  readonly unit: string | null
}

/** A price that is charged in addition to the main price of a plan. */
export interface AdditionalPrice extends PriceTerms {
  /** Id of the price. */
  readonly id: string
  /** Name shown on the pages. */
  readonly name: string
}

/** The rule for the quantity of a plan. */
export interface SeatsRule {
  /** Smallest quantity. Equal to `max` if the quantity is fixed. */
  readonly min: number
  /** Largest quantity. */
  readonly max: number
  /** Counts the quantity. `null` if it is fixed, or chosen by the person. */
  readonly count: ((user: User) => number | Promise<number>) | null
}

/**
 * A plan that people can subscribe to, at one billing interval. The providers hold the price that is
 * charged; the pages show these prices.
 */
export interface Plan extends PriceTerms {
  /** Id in URLs and forms. */
  readonly id: string
  /** Id of the plan in the settings. Plans that differ only in their interval have the same. */
  readonly plan: string
  /** Name shown on the pages. */
  readonly name: string
  /** A sentence that helps people choose. */
  readonly description: string
  /** The features of the plan, shown as a list. */
  readonly features: readonly string[]
  /** Billing interval in months. */
  readonly months: number
  /** Prices that are charged in addition to the main price. */
  readonly prices: readonly AdditionalPrice[]
  /** Length of the trial in days. */
  readonly trialDays: number
  /** Whether people can enter a code for a discount. */
  readonly promotionCodes: boolean
  /** The rule for the quantity. */
  readonly seats: SeatsRule
  /** Scopes that tokens of people on the plan may use. `null` for every scope. */
  readonly scopes: readonly string[] | null
  /** Quota by name of the meter. `null` if the plan has none. */
  readonly quota: Readonly<Record<string, string | number>> | null
  /** How fast people on the plan may be. `null` for no limit. */
  readonly rate: string | null
}

type GivenPlan = z.output<typeof plan>
type GivenTerms = Pick<z.output<typeof price>, keyof typeof terms>
type GivenPrice = z.output<typeof price>

/** Lists the plan at each of its billing intervals. */
function offersOf(given: GivenPlan): Plan[] {
  const { id, name, description, features, trialDays, promotionCodes, prices } = given
  const { scopes = null, quota = null, rate = null } = given
  const gate = { scopes, quota, rate }
  const shared = { plan: id, name, description, features, trialDays, promotionCodes, ...gate }
  const rule = seatsOf(given.seats)
  if (given.intervals === undefined) {
    const { months: length = 1 } = given
    const only = { id, months: length, ...priceOf(given, id), prices: pricesOf(prices) }
    return [{ ...shared, ...only, seats: rule }]
  }
  const isSeveral = given.intervals.length > 1
  return given.intervals.map((each) => {
    const suffix = `-${nameOf(each.months)}`
    const offer = each.id ?? `${id}${suffix}`
    return {
      ...shared,
      id: offer,
      months: each.months,
      ...priceOf(each, offer),
      seats: rule,
      prices: each.prices ? pricesOf(each.prices) : pricesOf(prices, isSeveral ? suffix : ''),
    }
  })
}

function nameOf(count: number): string {
  return { 1: 'monthly', 12: 'yearly' }[count] ?? `${count}-months`
}

function pricesOf(given: readonly GivenPrice[], suffix = ''): AdditionalPrice[] {
  return given.map((each) => ({
    id: each.id,
    name: each.name,
    ...priceOf(each, `${each.id}${suffix}`),
  }))
}

function priceOf(
  { amount: flat = 0, meter, unit, stripe, braintree, ...rest }: GivenTerms,
  id: string,
): PriceTerms {
  return {
    amount: flat,
    rates: ratesOf(rest),
    meter: meter ?? null,
    unit: unit ?? null,
    stripe: stripe === undefined ? id : stripe,
    braintree: braintree === undefined ? id : braintree,
  }
}

function ratesOf({
  tiers,
  mode = 'graduated',
  unitAmount,
  included,
  packageSize,
}: GivenTerms): MeteredPrice | null {
  if (tiers !== undefined) return { tiers: tiers.map(tierOf), mode }
  if (unitAmount === undefined) return null
  return {
    unitAmount,
    ...(included === undefined ? {} : { included }),
    ...(packageSize === undefined ? {} : { packageSize }),
  }
}

function tierOf({ upTo, unitAmount, flatAmount }: z.output<typeof tier>): UsageTier {
  return {
    upTo,
    ...(unitAmount === undefined ? {} : { unitAmount }),
    ...(flatAmount === undefined ? {} : { flatAmount }),
  }
}

function seatsOf(given: GivenPlan['seats']): SeatsRule {
  if (typeof given === 'function') return { min: 1, max: MAX_QUANTITY, count: given }
  if (typeof given === 'object')
    return { min: given.min ?? 1, max: given.max ?? MAX_QUANTITY, count: null }
  if (typeof given === 'number') return { min: given, max: given, count: null }
  return { min: 1, max: given ? MAX_QUANTITY : 1, count: null }
}
