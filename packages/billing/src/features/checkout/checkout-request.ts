import { InvalidArgument } from '../../core/errors/errors.ts'
import { requireCount, requireDate, requireText } from '../../core/values/arguments.ts'
import { MAX_TRIAL_DAYS } from '../../core/values/dates.ts'
import { requirePageLocale } from '../../core/values/locale.ts'
import { type Amount, type Money, requireAmount } from '../../core/values/money.ts'
import { DEFAULT_SUBSCRIPTION_NAME } from '../../core/values/subscription-name.ts'
import type { TaxSource } from '../../options.ts'
import type { CheckoutLine, CheckoutMode, CheckoutSubscription, NewCheckout } from './contract.ts'

/**
 * An item to sell on a checkout page that the provider hosts: a price defined at the provider, or
 * an amount with a name.
 */
export type CheckoutItem = {
  /**
   * Number of units. `null` for a price that is billed by usage.
   * @default 1
   */
  readonly quantity?: number | null
  /** Range in which the customer may change the quantity. */
  readonly adjustable?: { readonly min: number; readonly max: number }
} & (
  | {
      /** The provider's id of the price. */
      readonly price: string
    }
  | {
      /** Price per unit. */
      readonly amount: Amount
      /** Name shown to the customer. */
      readonly name: string
    }
)

/**
 * Options of every checkout page hosted by the provider: the paths to which customers return,
 * discounts, taxes and language.
 */
export interface CheckoutPageOptions {
  /**
   * Path of the application to which customers return after they have finished, such as
   * `/billing/done`.
   */
  readonly successPath: string
  /** Path of the application to which customers return if they cancel. */
  readonly cancelPath?: string
  /** The provider's id of a coupon to apply. */
  readonly coupon?: string
  /**
   * A promotion code as the customer typed it. Cannot be combined with `coupon`. Throws
   * `PromotionCodeRefused` if the customer cannot use it, and `TooManyAttempts` after too many
   * wrong codes.
   */
  readonly promotionCode?: string
  /**
   * Whether the page has a field for promotion codes. Cannot be combined with `coupon` or
   * `promotionCode`.
   */
  readonly allowPromotionCodes?: boolean
  /**
   * The tax to charge. `percentage`: the percentage that the option `taxPercentage` returns (only
   * for subscriptions). `automatic`: the provider calculates the tax from the customer's address. A
   * list of ids: the provider's tax rates, for each price. `none`: no tax. Default: the option
   * `tax` of `createBilling()`.
   */
  readonly tax?: TaxSource | 'none'
  /** Whether the page asks for the customer's tax id. */
  readonly collectTaxIds?: boolean
  /** Whether the page asks for the customer's billing address. */
  readonly collectAddress?: boolean
  /**
   * Language of the page, such as `de`; the closest language that the provider supports is used.
   * Default: the browser's language.
   */
  readonly locale?: string
  /** Metadata passed to the provider unchanged. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** Options for `checkout()`. */
export interface CheckoutOptions extends CheckoutPageOptions {
  /**
   * Mode of the page: it starts a subscription, takes a payment, or stores a card (`setup`).
   * @default 'subscription'
   */
  readonly mode?: CheckoutMode
  /**
   * Whether a single payment gets an invoice. Subscriptions always have invoices.
   * @default false
   */
  readonly invoice?: boolean
  /**
   * The application's name for the subscription.
   * @default 'default'
   */
  readonly name?: string
  /** Days of trial before the first charge, counted from the day the customer finishes the page. */
  readonly trialDays?: number
  /** Alternative to `trialDays`: the exact end of the trial, at least two days ahead. */
  readonly trialUntil?: Date
  /**
   * Whether the page does not ask for a card if nothing is due, because the plan is free or starts
   * with a trial. A subscription without a card ends with its trial, unless the customer adds a
   * card before.
   */
  readonly withoutCard?: boolean
  /**
   * Day on which the first full billing period starts, at most one period from now. Cannot be
   * combined with a trial.
   */
  readonly anchorOn?: Date
  /**
   * Whether the time from now until `anchorOn` is charged proportionally.
   * @default true
   */
  readonly prorate?: boolean
}

/**
 * The part of a checkout request that the application decides. Stored with the operation, so that a
 * repeated request can be compared with it.
 */
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
  /** The tax given in the call. `null` to use the option `tax`. */
  readonly tax: TaxSource | 'none' | null
  readonly successPath: string
  readonly cancelPath: string | null
}

/**
 * Checks the items and options of a checkout page, and converts them to a request.
 * @throws InvalidArgument before any request is sent to the provider.
 */
export function parseCheckoutRequest(
  items: string | readonly CheckoutItem[],
  options: CheckoutOptions,
  toMoney: (amount: Amount) => Money,
): CheckoutRequest {
  const { mode = 'subscription', coupon, promotionCode, allowPromotionCodes = false } = options
  const listed = typeof items === 'string' ? [{ price: items }] : items
  if (mode === 'setup' ? listed.length > 0 : listed.length === 0) {
    throw new InvalidArgument(
      mode === 'setup'
        ? "A page with mode 'setup' only saves a card: pass no items"
        : 'Pass at least one item to pay for',
    )
  }
  const ways = [coupon !== undefined, promotionCode !== undefined, allowPromotionCodes]
  if (ways.filter(Boolean).length > 1) {
    throw new InvalidArgument(
      'A checkout page takes only one of `coupon`, `promotionCode` and `allowPromotionCodes`',
    )
  }
  if (options.invoice && mode !== 'payment') {
    throw new InvalidArgument("`invoice` is only for pages with mode 'payment'")
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
    throw new InvalidArgument(
      '`quantity: null` is only for prices billed by usage, and cannot be combined with `adjustable`',
    )
  }
  if (adjustable && !(requireCount(adjustable.min) <= requireCount(adjustable.max))) {
    throw new InvalidArgument(
      `adjustable.min is ${adjustable.min} and adjustable.max is ${adjustable.max}; expected min to be at most max`,
    )
  }
  if ('price' in item) return { price: requireText('price', item.price), quantity, adjustable }
  const amount = requireAmount(item.amount, toMoney)
  return { name: requireText('name', item.name), amount, quantity, adjustable }
}

function requireSubscription(
  mode: CheckoutMode,
  {
    name = DEFAULT_SUBSCRIPTION_NAME,
    trialDays,
    trialUntil,
    withoutCard = false,
    ...more
  }: CheckoutOptions,
): CheckoutSubscription | null {
  const { anchorOn: anchorAt, prorate = true } = more
  const hasTrial = trialDays !== undefined || trialUntil !== undefined
  if (mode !== 'subscription') {
    if (hasTrial || withoutCard)
      throw new InvalidArgument(
        "`trialDays`, `trialUntil` and `withoutCard` need mode 'subscription'",
      )
    if (anchorAt) throw new InvalidArgument("`anchorOn` needs mode 'subscription'")
    return null
  }
  if (trialDays !== undefined && trialUntil !== undefined) {
    throw new InvalidArgument('Pass `trialDays` or `trialUntil`, not both')
  }
  if (trialDays !== undefined && requireCount(trialDays) > MAX_TRIAL_DAYS) {
    throw new InvalidArgument(`A trial of ${trialDays} days; expected 1 to ${MAX_TRIAL_DAYS}`)
  }
  if (trialUntil !== undefined) requireDate('The end of the trial', trialUntil)
  if (anchorAt !== undefined) requireDate('The anchor date', anchorAt)
  if (anchorAt && hasTrial) {
    throw new InvalidArgument('`anchorOn` cannot be combined with a trial on a checkout page')
  }
  if (withoutCard && anchorAt && !prorate) {
    throw new InvalidArgument(
      '`withoutCard` cannot be combined with `anchorOn` and `prorate: false`, because the invoice on that date needs a card: use `trialUntil` instead',
    )
  }
  return {
    name: requireText('subscription name', name),
    trialDays: trialDays ?? null,
    trialEndsAt: trialUntil ?? null,
    withoutCard,
    ...(anchorAt ? { anchorAt, prorate } : {}),
  }
}
