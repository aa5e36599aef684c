import { InvalidArgument } from '../errors.ts'
import type {
  CheckoutLine,
  CheckoutMode,
  CheckoutSubscription,
  NewCheckout,
} from '../gateways/contract/parts/pages/checkout.ts'
import type { TaxSource } from '../options.ts'
import { requireCount, requireDate, requireText } from '../values/arguments.ts'
import { requirePageLocale } from '../values/locale.ts'
import { type Amount, type Money, requireAmount } from '../values/money.ts'
import { DEFAULT_NAME } from '../values/subscription-name.ts'
import { LONGEST_TRIAL } from '../values/trial.ts'

/** What is sold on a hosted page: a price of the provider's, or an amount with a name. */
export type CheckoutItem = {
  /** How many. Default 1. Null for a price that is billed by usage. */
  readonly quantity?: number | null
  /** Between which numbers the customer may choose. */
  readonly adjustable?: { readonly min: number; readonly max: number }
} & (
  | {
      /** The provider's id of the price. */
      readonly price: string
    }
  | {
      /** For each. */
      readonly amount: Amount
      /** What people read. */
      readonly name: string
    }
)

/** How a hosted page looks, and where customers go from there. */
export interface CheckoutPageOptions {
  /** Where customers go who are done: a path of the application's, such as `/billing/done`. */
  readonly successPath: string
  /** Where customers go who change their mind; a path, too. */
  readonly cancelPath?: string
  /** A coupon's id. */
  readonly coupon?: string
  /** A code as the customer has typed it; not together with a coupon. PromotionCodeRefused, TooManyAttempts. */
  readonly promotionCode?: string
  /** Whether the page has a field for a code; not together with a coupon or a code. */
  readonly allowPromotionCodes?: boolean
  /**
   * `percentage`: as `taxPercentage` says, for subscriptions. `automatic`: by the customer's address. Or ids of rates of the
   * provider's own, for each price. Default: as the option `tax` says.
   */
  readonly tax?: TaxSource | 'none'
  /** Whether the page asks for a tax id. */
  readonly collectTaxIds?: boolean
  /** Whether the page asks for an address. */
  readonly collectAddress?: boolean
  /** The language of the page, or the nearest that the provider has. Default: the browser's. */
  readonly locale?: string
  /** Goes to the provider as it is. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** How a hosted page is made. */
export interface CheckoutOptions extends CheckoutPageOptions {
  /** What comes of it: a subscription, a payment, or a card for later. Default `subscription`. */
  readonly mode?: CheckoutMode
  /** Whether what is paid once gets an invoice. Default false. A subscription always does. */
  readonly invoice?: boolean
  /** What the application calls the subscription. Default `default`. */
  readonly name?: string
  /** The customer is charged when the trial ends. Counted from the day they are done. */
  readonly trialDays?: number
  /** The same, until a date that is at least two days ahead. */
  readonly trialUntil?: Date
  /**
   * Whether the page asks for no card where nothing is due: for a plan that costs nothing, or a trial. That then ends
   * with its trial, unless a card is given.
   */
  readonly withoutCard?: boolean
  /** From when on whole periods are billed; not together with a trial, and at most one period away. */
  readonly anchorOn?: Date
  /** Whether the time before `anchorOn` is paid for. Default true. */
  readonly prorate?: boolean
}

/** What is asked of the provider, as far as the application says. Kept on record as it is. */
export type CheckoutRequest = Pick<
  NewCheckout,
  | 'mode'
  | 'lines'
  | 'subscription'
  | 'discount'
  | 'allowsCodes'
  | 'makesInvoice'
  | 'collectsTaxId'
  | 'collectsAddress'
  | 'locale'
  | 'metadata'
> & {
  /** Null as the option says. */
  readonly tax: TaxSource | 'none' | null
  readonly successPath: string
  readonly cancelPath: string | null
}

/** Or InvalidArgument, before any call. */
export function requireCheckout(
  items: string | readonly CheckoutItem[],
  options: CheckoutOptions,
  toMoney: (amount: Amount) => Money,
): CheckoutRequest {
  const { mode = 'subscription', coupon, promotionCode, allowPromotionCodes = false } = options
  const listed = typeof items === 'string' ? [{ price: items }] : items
  if (mode === 'setup' ? listed.length > 0 : listed.length === 0) {
    throw new InvalidArgument(
      mode === 'setup' ? 'Nothing is sold where a card is kept' : 'Name a price to be paid',
    )
  }
  const ways = [coupon !== undefined, promotionCode !== undefined, allowPromotionCodes]
  if (ways.filter(Boolean).length > 1) {
    throw new InvalidArgument('A page has a coupon, a code, or a field for codes')
  }
  if (options.invoice && mode !== 'payment') {
    throw new InvalidArgument("`invoice` is for pages of the mode 'payment'")
  }
  return {
    mode,
    lines: listed.map((item) => requireLine(item, toMoney)),
    subscription: requireSubscription(mode, options),
    discount: coupon === undefined ? null : { coupon: requireText('coupon', coupon) },
    allowsCodes: allowPromotionCodes,
    ...(options.invoice ? { makesInvoice: true } : {}),
    tax: options.tax ?? null,
    collectsTaxId: options.collectTaxIds ?? false,
    collectsAddress: options.collectAddress ?? false,
    locale: requirePageLocale(options.locale),
    metadata: options.metadata ?? {},
    successPath: options.successPath,
    cancelPath: options.cancelPath ?? null,
  }
}

function requireLine(item: CheckoutItem, toMoney: (amount: Amount) => Money): CheckoutLine {
  const { quantity = 1, adjustable = null } = item
  if (quantity !== null) requireCount(quantity)
  else if (!('price' in item) || adjustable) {
    throw new InvalidArgument('Only a price that is billed by usage has no quantity')
  }
  if (adjustable && !(requireCount(adjustable.min) <= requireCount(adjustable.max))) {
    throw new InvalidArgument(
      `Between ${adjustable.min} and ${adjustable.max} there is no quantity`,
    )
  }
  if ('price' in item) return { price: requireText('price', item.price), quantity, adjustable }
  const amount = requireAmount(item.amount, toMoney)
  return { name: requireText('name', item.name), amount, quantity, adjustable }
}

function requireSubscription(
  mode: CheckoutMode,
  { name = DEFAULT_NAME, trialDays, trialUntil, withoutCard = false, ...more }: CheckoutOptions,
): CheckoutSubscription | null {
  const { anchorOn: anchorAt, prorate = true } = more
  const hasTrial = trialDays !== undefined || trialUntil !== undefined
  if (mode !== 'subscription') {
    if (hasTrial || withoutCard) throw new InvalidArgument('Only a subscription has a trial')
    if (anchorAt) throw new InvalidArgument('Only a subscription has periods')
    return null
  }
  if (trialDays !== undefined && trialUntil !== undefined) {
    throw new InvalidArgument('A trial has days or a date, not both')
  }
  if (trialDays !== undefined && requireCount(trialDays) > LONGEST_TRIAL) {
    throw new InvalidArgument(`A trial of ${trialDays} days; expected 1 to ${LONGEST_TRIAL}`)
  }
  if (trialUntil !== undefined) requireDate('The end of the trial', trialUntil)
  if (anchorAt !== undefined) requireDate('The day of the first whole period', anchorAt)
  if (anchorAt && hasTrial) {
    throw new InvalidArgument('A page has a trial or a day of the first whole period, not both')
  }
  if (withoutCard && anchorAt && !prorate) {
    throw new InvalidArgument('Nothing can be billed on that day without a card: use trialUntil')
  }
  return {
    name: requireText('subscription name', name),
    trialDays: trialDays ?? null,
    trialEndsAt: trialUntil ?? null,
    withoutCard,
    ...(anchorAt ? { anchorAt, prorate } : {}),
  }
}
