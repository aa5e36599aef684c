import type { BillingContext } from '../../core/context.ts'
import { InvalidArgument } from '../../core/errors/errors.ts'
import { requireKnownPrice, requireProvider } from '../../core/known-prices.ts'
import { requireTaxSource } from '../../core/tax.ts'
import type { LoadedOwner } from '../../core/user-scope.ts'
import { requireCount, requireText } from '../../core/values/arguments.ts'
import { MAX_TRIAL_DAYS } from '../../core/values/dates.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { TaxSource } from '../../options.ts'
import type { CustomerDetails } from '../../providers/customer.ts'
import { requireCapability } from '../../providers/gateway-parts.ts'
import type { RequestedItem } from '../../providers/item.ts'
import type { Provider } from '../../providers/provider.ts'
import type { MetadataValues } from '../../providers/subscription.ts'
import { Subscription } from '../../subscription.ts'
import type { Checkout } from '../checkout/checkout.ts'
import {
  type CheckoutOptions,
  type CheckoutPageOptions,
  parseCheckoutRequest,
} from '../checkout/checkout-request.ts'
import { openCheckout } from '../checkout/open-checkout.ts'
import type { FirstInvoices } from '../forecasts/upcoming-invoice.ts'
import { requireMetadata } from '../metadata/metadata.ts'
import { requireCodeText, requirePromotionCode } from '../promotion-codes/promotion-codes.ts'
import { requireTrialEnd } from '../trials/subscription.ts'
import { createSubscription } from './create.ts'
import { previewSubscription } from './preview-new.ts'
import { type RequestedStart, requireValidStart } from './start-terms.ts'

interface Choices extends RequestedStart {
  readonly name: string
  readonly price: string
  readonly provider: ProviderName
  readonly coupon: string | null
  /** Promotion code as the customer typed it. */
  readonly code?: string
  readonly quantity: number
  readonly items?: readonly RequestedItem[]
  /** Whether the main price is billed by usage. */
  readonly isMetered?: boolean
  readonly metadata?: MetadataValues
  /** Tax of this subscription. `null` if the option `tax` applies. */
  readonly tax?: TaxSource | null
}

/**
 * Options for the hosted page of the builder's `checkout()`. All other terms of the subscription
 * come from the builder.
 */
export type SubscriptionPageOptions = Omit<CheckoutPageOptions, 'coupon' | 'promotionCode'> &
  Pick<CheckoutOptions, 'withoutCard'>

/**
 * Builds a new subscription. Each method returns a new builder; no request is sent before
 * `create()`, `preview()` or `checkout()`.
 */
export class SubscriptionBuilder {
  readonly #context: BillingContext
  readonly #user: LoadedOwner
  readonly #choices: Choices

  constructor(context: BillingContext, user: LoadedOwner, choices: Choices) {
    this.#context = context
    this.#user = user
    this.#choices = choices
  }

  /** Applies a coupon. The provider defines how long the coupon lasts. */
  withCoupon(code: string): SubscriptionBuilder {
    return this.#with({ coupon: requireText('coupon', code) })
  }

  /**
   * Applies a promotion code that the customer typed. Cannot be combined with `withCoupon()`.
   * `create()` and `checkout()` throw PromotionCodeRefused if the code is not valid for this
   * customer, and TooManyAttempts after too many wrong codes.
   */
  withPromotionCode(code: string): SubscriptionBuilder {
    return this.#with({ code: requireCodeText(code) })
  }

  /**
   * Starts with a free trial of this many days. The customer is charged when the trial ends. `0`
   * means no trial.
   * @throws {InvalidArgument} unless `days` is a whole number from 0 to 730.
   * @example
   * ```ts
   * await user.newSubscription('main', 'monthly').trialDays(14).create(cardToken)
   * ```
   */
  trialDays(days: number): SubscriptionBuilder {
    if (!Number.isInteger(days) || days < 0 || days > MAX_TRIAL_DAYS) {
      throw new InvalidArgument(`A trial of ${days} days; expected 0 to ${MAX_TRIAL_DAYS}`)
    }
    const { trialEndsAt: _date, ...others } = this.#choices
    return new SubscriptionBuilder(this.#context, this.#user, { ...others, trialDays: days })
  }

  /**
   * Starts with a free trial that ends at this date. If the provider supports only trials in days
   * (Braintree), `create()` throws Unsupported.
   */
  trialUntil(date: Date): SubscriptionBuilder {
    return this.#with({ trialEndsAt: date, trialDays: null })
  }

  /** Starts without a trial, even if the plan has one. */
  skipTrial(): SubscriptionBuilder {
    return this.trialDays(0)
  }

  /**
   * Sets the day on which the first whole period begins, at most one period from now or from the
   * end of the trial. The time before that day is charged proportionally: immediately, or at the
   * end of the trial. If the provider does not support it (Braintree), `create()` throws
   * Unsupported.
   * @example
   * ```ts
   * const firstOfMonth = new Date(Date.UTC(2026, 1, 1)) await user.newSubscription('main',
   * 'monthly').anchorOn(firstOfMonth).create(cardToken)
   * ```
   */
  anchorOn(date: Date): SubscriptionBuilder {
    return this.#with({ anchorAt: date })
  }

  /**
   * Starts the subscription in the past. The time since that date is charged immediately. If the
   * provider does not support start dates in the past (Braintree), `create()` throws Unsupported.
   */
  backdate(date: Date): SubscriptionBuilder {
    return this.#with({ backdateTo: date })
  }

  /**
   * Makes the time before the first whole period free. For use with `anchorOn()` or `backdate()`.
   */
  noProrate(): SubscriptionBuilder {
    return this.#with({ prorate: false })
  }

  /**
   * Allows a start without a card, during a trial or on a price that costs nothing. If something is
   * due, `create()` throws NoPaymentMethod. An existing card is used. A trial that ends without a
   * card ends the subscription, unless `updateCard()` adds one before. If the provider does not
   * support it (Braintree), `create()` throws Unsupported.
   */
  withoutCard(): SubscriptionBuilder {
    return this.#with({ withoutCard: true })
  }

  /**
   * Sets the quantity (number of units, such as seats) of the main price, or of another price that
   * was added before. If the provider has no quantities for the main price (Braintree), `create()`
   * throws Unsupported.
   * @throws {InvalidArgument} for a price that was not added with `price()`.
   */
  quantity(count: number, price?: string): SubscriptionBuilder {
    const { price: mainPrice, items = [] } = this.#choices
    requireCount(count)
    if (price === undefined || price === mainPrice) return this.#with({ quantity: count })
    if (!items.some((item) => item.price === price)) {
      throw new InvalidArgument(`'${price}' was not added: add it with price()`)
    }
    const counted = items.map((item) => (item.price === price ? { price, quantity: count } : item))
    return this.#with({ items: counted })
  }

  /**
   * Adds another price to the subscription (an add-on at Braintree). If the provider does not
   * support several prices in one subscription, `create()` throws Unsupported.
   * @example
   * ```ts
   * await user.newSubscription('main', 'monthly').price('seat', 3).create(cardToken)
   * ```
   */
  price(price: string, quantity = 1): SubscriptionBuilder {
    const { price: mainPrice, items = [] } = this.#choices
    requireText('price', price)
    if ([mainPrice, ...items.map((item) => item.price)].includes(price)) {
      throw new InvalidArgument(`'${price}' was already added: set its quantity instead`)
    }
    return this.#with({ items: [...items, { price, quantity: requireCount(quantity) }] })
  }

  /**
   * Adds a price that is billed by usage and has no quantity, or declares that the main price is
   * billed by usage. If the provider does not support usage-based prices, `create()` throws
   * Unsupported.
   * @example
   * ```ts
   * await user.newSubscription('main', 'monthly').meteredPrice('api_calls').create(cardToken)
   * ```
   */
  meteredPrice(price: string): SubscriptionBuilder {
    const { price: mainPrice, items = [] } = this.#choices
    requireText('price', price)
    if (price === mainPrice) return this.#with({ isMetered: true })
    if (items.some((item) => item.price === price)) {
      throw new InvalidArgument(`'${price}' was already added`)
    }
    return this.#with({ items: [...items, { price, quantity: null }] })
  }

  /**
   * Sets the tax of this subscription, in place of the option `tax`: a percentage (`percentage`),
   * automatically by the customer's address (`automatic`), or ids of Stripe's tax rates (`txr_…`).
   * The choice stays when the subscription is swapped.
   * @throws {InvalidArgument} for any other value.
   */
  withTax(tax: TaxSource): SubscriptionBuilder {
    if (typeof tax !== 'string') for (const rate of tax) requireText('tax rate', rate)
    else if (tax !== 'percentage' && tax !== 'automatic') {
      throw new InvalidArgument(
        `'${String(tax)}' is not a tax source; expected 'percentage', 'automatic' or an array of tax rate ids`,
      )
    }
    return this.#with({ tax })
  }

  /**
   * Stores your own data with the subscription at the provider; `subscription.metadata()` reads it.
   * Replaces the data of an earlier call. At most 30 keys of up to 40 characters without square
   * brackets, and values of up to 500 characters. Do not store secrets there. If the provider does
   * not support it, `create()` throws Unsupported.
   * @throws {InvalidArgument} immediately, for data that breaks these limits, or for a key that
   * billing uses itself, such as `name`.
   * @example
   * ```ts
   * await user.newSubscription('main', 'monthly').withMetadata({ campaign: 'spring'
   * }).create(cardToken)
   * ```
   */
  withMetadata(metadata: MetadataValues): SubscriptionBuilder {
    return this.#with({ metadata: requireMetadata(metadata) })
  }

  /**
   * Creates the subscription, and the customer if there is none. If a subscription of this name
   * already runs on the same terms, returns it, so that the call is safe to repeat.
   * @param token Card token from the provider's script in the browser. Without one, the customer's
   * default card is used.
   * @param details Details for a new customer: `{ email, name, phone, … }`.
   * @throws {AlreadySubscribed} if a subscription of this name runs on other terms.
   * @throws {PaymentActionRequired} if the bank wants the customer to confirm the payment.
   * @throws {PaymentFailed} if the card is declined.
   * @throws {NoPaymentMethod} if there is neither a token nor a default card.
   * @example
   * ```ts
   * const subscription = await user.newSubscription('main', 'monthly').create(cardToken, { email })
   * ```
   */
  async create(token?: string | null, details: CustomerDetails = {}): Promise<Subscription> {
    this.#requirePossible()
    const { tax = null, ...wanted } = this.#choices
    const payer = { token: token == null ? null : requireText('card token', token), details }
    const { record: user } = this.#user
    try {
      const coupon = await this.#coupon()
      const asked = { ...wanted, coupon }
      const record = await createSubscription(this.#context, user, asked, payer, tax)
      return new Subscription(this.#context, user, record)
    } finally {
      await this.#user.reload()
    }
  }

  /**
   * Returns what `create()` would charge now, and what is charged after the trial or the first
   * period, to the cent. Nothing is created; neither a customer nor a card is needed. Pass an
   * address for taxes that depend on it.
   * @param options.provider Another provider to preview, for a page on which people choose one.
   * Name the price by its id at that provider. Default: the owner's provider.
   * @throws {AlreadySubscribed} if a subscription of this name runs on other terms.
   * @example
   * ```ts
   * const { now, next } = await user.newSubscription('main', 'monthly').trialDays(10).preview()
   * ```
   */
  async preview(
    details: CustomerDetails = {},
    options: { readonly provider?: ProviderName } = {},
  ): Promise<FirstInvoices> {
    const builder = this.#with(options)
    requireCapability(builder.#requirePossible(), 'forecasts')
    const { tax = null, ...wanted } = builder.#choices
    const asked = { ...wanted, coupon: await builder.#coupon() }
    return previewSubscription(this.#context, this.#user.record, asked, { tax, details })
  }

  /**
   * Creates a page at the provider on which the customer enters a card and subscribes. Send the
   * customer to the returned `url`.
   * @throws {InvalidArgument} after `backdate()`, which hosted pages do not support.
   * @throws {Unsupported} if the provider has no hosted pages (Braintree).
   * @example
   * ```ts
   * const { url } = await user.newSubscription('main', 'monthly').checkout({ successPath: '/welcome' })
   * ```
   */
  async checkout(options: SubscriptionPageOptions): Promise<Checkout> {
    const {
      name,
      price: mainPrice,
      quantity,
      isMetered,
      trialDays,
      trialEndsAt,
      items = [],
      tax,
    } = this.#choices
    const provider = requireProvider(this.#context, this.#choices.provider)
    requireCapability(provider, 'checkout')
    this.#requireMetered(provider)
    this.#requireTrialEnd(provider)
    this.#requireStart(provider)
    const { anchorAt, backdateTo, prorate = true, withoutCard = false } = this.#choices
    if (backdateTo) throw new InvalidArgument('Hosted checkout does not support backdate()')
    this.#requireMetadata(provider)
    requireKnownPrice(provider, mainPrice)
    const gateway = await this.#context.gateway(provider.name)
    const coupon = await this.#coupon()
    const terms: CheckoutOptions = {
      ...options,
      name,
      ...(tax ? { tax } : {}),
      ...(coupon === null ? {} : { coupon }),
      ...(trialDays ? { trialDays } : {}),
      ...(trialEndsAt ? { trialUntil: trialEndsAt } : {}),
      ...(anchorAt ? { anchorOn: anchorAt, prorate } : {}),
      ...(withoutCard ? { withoutCard } : {}),
      metadata: { ...this.#choices.metadata, ...options.metadata },
    }
    const lines = [
      { price: mainPrice, quantity: isMetered ? null : quantity },
      ...items.map((item) => ({ price: item.price, quantity: item.quantity })),
    ]
    const wanted = parseCheckoutRequest(lines, terms, gateway.toMoney)
    try {
      return await openCheckout(this.#context, this.#user.record, provider.name, wanted)
    } finally {
      await this.#user.reload()
    }
  }

  /**
   * Returns the id of the coupon or the provider's id of the promotion code, which requests contain
   * in the same field. `null` if there is none.
   */
  async #coupon(): Promise<string | null> {
    const { coupon, code, provider } = this.#choices
    if (code === undefined) return coupon
    if (coupon !== null) throw new InvalidArgument('Use a coupon or a promotion code, not both')
    requireCapability(requireProvider(this.#context, provider), 'promotionCodes')
    const typed = { text: code, typedBy: this.#user.record, provider }
    return requirePromotionCode(this.#context, typed)
  }

  #requireMetered(provider: Provider): void {
    const { isMetered, quantity, items = [] } = this.#choices
    if (!isMetered && items.every((item) => item.quantity !== null)) return
    requireCapability(provider, 'meteredPrices')
    if (isMetered && quantity !== 1) {
      throw new InvalidArgument('The main price is billed by usage, so it has no quantity')
    }
  }

  /**
   * Checks all terms that can be checked without a request to the provider, and returns the
   * provider.
   */
  #requirePossible(): Provider {
    const { price: mainPrice, quantity, items = [], tax = null } = this.#choices
    const provider = requireProvider(this.#context, this.#choices.provider)
    if (quantity !== 1) requireCapability(provider, 'quantities')
    if (items.length > 0) requireCapability(provider, 'items')
    this.#requireMetered(provider)
    this.#requireTrialEnd(provider)
    this.#requireStart(provider)
    this.#requireMetadata(provider)
    requireKnownPrice(provider, mainPrice)
    for (const { price } of items) requireKnownPrice(provider, price)
    requireTaxSource(this.#context, provider, tax)
    return provider
  }

  #requireMetadata(provider: Provider): void {
    if (this.#choices.metadata !== undefined) requireCapability(provider, 'metadata')
  }

  #requireTrialEnd(provider: Provider): void {
    const { trialEndsAt } = this.#choices
    if (trialEndsAt === undefined) return
    requireCapability(provider, 'trials')
    requireTrialEnd(trialEndsAt, this.#context.options.clock.now())
  }

  #requireStart(provider: Provider): void {
    const { anchorAt, backdateTo, prorate = true, withoutCard } = this.#choices
    if (anchorAt !== undefined) requireCapability(provider, 'anchors')
    if (backdateTo !== undefined) requireCapability(provider, 'backdating')
    if (!prorate) requireCapability(provider, 'anchors')
    if (withoutCard) requireCapability(provider, 'freeStarts')
    requireValidStart(this.#choices, this.#context.options.clock.now())
  }

  #with(choices: Partial<Choices>): SubscriptionBuilder {
    return new SubscriptionBuilder(this.#context, this.#user, { ...this.#choices, ...choices })
  }
}
