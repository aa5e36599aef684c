import type { BillingContext } from '../context.ts'
import type { LoadedOwner } from '../customers/loaded-owner.ts'
import { requireCodeText, requirePromotionCode } from '../customers/promotion-codes.ts'
import { requireTaxSource } from '../customers/read-tax.ts'
import { InvalidArgument } from '../errors.ts'
import type { CustomerDetails } from '../gateways/contract/customer.ts'
import type { WantedItem } from '../gateways/contract/item.ts'
import type { ChangedDetails } from '../gateways/contract/parts/money/customer-details.ts'
import { requireCapability } from '../gateways/contract/parts.ts'
import type { Provider } from '../gateways/contract/provider.ts'
import type { FirstInvoices } from '../gateways/contract/upcoming-invoice.ts'
import type { TaxSource } from '../options.ts'
import type { Checkout } from '../pages/checkout.ts'
import {
  type CheckoutOptions,
  type CheckoutPageOptions,
  requireCheckout,
} from '../pages/checkout-request.ts'
import { openCheckout } from '../pages/open-checkout.ts'
import type { ProviderName } from '../provider-name.ts'
import { requireCount, requireText } from '../values/arguments.ts'
import { LONGEST_TRIAL } from '../values/trial.ts'
import { createSubscription } from './create.ts'
import { requireTrialEnd } from './features/dates.ts'
import { requireKnownPlan, requireProvider } from './known-plans.ts'
import { BUILDER_NEEDS } from './needs.ts'
import { previewSubscription } from './preview-new.ts'
import { requireStart, type WantedStart } from './start-terms.ts'
import { Subscription } from './subscription.ts'

interface Choices extends WantedStart {
  readonly name: string
  readonly plan: string
  readonly provider: ProviderName
  readonly coupon: string | null
  /** As it was typed. */
  readonly code?: string
  readonly quantity: number
  readonly items?: readonly WantedItem[]
  /** Whether usage of the plan itself is counted. */
  readonly isMetered?: boolean
  /** Null as the option says. */
  readonly tax?: TaxSource | null
}

/** How a page is made on which somebody subscribes. The rest is the builder's. */
export type SubscriptionPageOptions = Omit<CheckoutPageOptions, 'coupon' | 'promotionCode'> &
  Pick<CheckoutOptions, 'withoutCard'>

/** A subscription to be. Nothing is sent until `create()` or `checkout()`. */
export class SubscriptionBuilder {
  readonly #context: BillingContext
  readonly #user: LoadedOwner
  readonly #choices: Choices

  constructor(context: BillingContext, user: LoadedOwner, choices: Choices) {
    this.#context = context
    this.#user = user
    this.#choices = choices
  }

  /** Takes this coupon off, as long as the provider says it lasts. */
  withCoupon(code: string): SubscriptionBuilder {
    return this.#with({ coupon: requireText('coupon', code) })
  }

  /**
   * Takes off what a code gives that the customer has typed. `create()` and `checkout()` throw PromotionCodeRefused
   * where it gives nothing, and TooManyAttempts where somebody guesses. Not together with a coupon.
   */
  withPromotionCode(code: string): SubscriptionBuilder {
    return this.#with({ code: requireCodeText(code) })
  }

  /** The customer is charged when the trial ends. */
  trialDays(days: number): SubscriptionBuilder {
    if (!Number.isInteger(days) || days < 0 || days > LONGEST_TRIAL) {
      throw new InvalidArgument(`A trial of ${days} days; expected 0 to ${LONGEST_TRIAL}`)
    }
    const { trialEndsAt: _date, ...others } = this.#choices
    return new SubscriptionBuilder(this.#context, this.#user, { ...others, trialDays: days })
  }

  /** The same until a date, where the provider has such trials; otherwise `create()` throws Unsupported. */
  trialUntil(date: Date): SubscriptionBuilder {
    return this.#with({ trialEndsAt: date, trialDays: null })
  }

  /** Without a trial, also where the plan has one. */
  skipTrial(): SubscriptionBuilder {
    return this.trialDays(0)
  }

  /**
   * Whole periods are billed from this moment on, which is at most one of them away; the time before is paid for by its
   * share, at once or after the trial. Where the provider has it; otherwise `create()` throws Unsupported.
   */
  anchorOn(date: Date): SubscriptionBuilder {
    return this.#with({ anchorAt: date })
  }

  /** It began on that day, and the time since then is paid for at once. Where the provider has it, as above. */
  backdate(date: Date): SubscriptionBuilder {
    return this.#with({ backdateTo: date })
  }

  /** The time before the first whole period costs nothing, for `anchorOn()` and `backdate()`. */
  noProrate(): SubscriptionBuilder {
    return this.#with({ prorate: false })
  }

  /**
   * It may begin without a card, in a trial or on a plan that costs nothing; where something is due, `create()` throws
   * NoPaymentMethod. A card that is there is used. A trial that ends without a card ends the subscription; with
   * `updateCard()` before that it goes on. Where the provider has it; otherwise `create()` throws Unsupported.
   */
  withoutCard(): SubscriptionBuilder {
    return this.#with({ withoutCard: true })
  }

  /**
   * How many of the plan, or of another price that was added before. Where the provider has quantities; otherwise
   * `create()` throws Unsupported.
   */
  quantity(count: number, price?: string): SubscriptionBuilder {
    const { plan, items = [] } = this.#choices
    requireCount(count)
    if (price === undefined || price === plan) return this.#with({ quantity: count })
    if (!items.some((item) => item.price === price)) {
      throw new InvalidArgument(`There is no '${price}': add it by price()`)
    }
    const counted = items.map((item) => (item.price === price ? { price, quantity: count } : item))
    return this.#with({ items: counted })
  }

  /**
   * Another price beside the plan, in the same subscription; at Braintree an add-on. Where the provider has several
   * prices in one; otherwise `create()` throws Unsupported.
   */
  price(price: string, quantity = 1): SubscriptionBuilder {
    const { plan, items = [] } = this.#choices
    requireText('price', price)
    if ([plan, ...items.map((item) => item.price)].includes(price)) {
      throw new InvalidArgument(`'${price}' is there already: say how many in its quantity`)
    }
    return this.#with({ items: [...items, { price, quantity: requireCount(quantity) }] })
  }

  /**
   * Another price, which is billed by what was used of it and has no quantity; or the plan itself, where that is such a
   * price. Where the provider counts usage; otherwise `create()` throws Unsupported.
   * @example
   * await user.newSubscription('main', 'monthly').meteredPrice('api_calls').create(cardToken)
   */
  meteredPrice(price: string): SubscriptionBuilder {
    const { plan, items = [] } = this.#choices
    requireText('price', price)
    if (price === plan) return this.#with({ isMetered: true })
    if (items.some((item) => item.price === price)) {
      throw new InvalidArgument(`'${price}' is there already`)
    }
    return this.#with({ items: [...items, { price, quantity: null }] })
  }

  /**
   * How this one is taxed, in place of what the option `tax` says: by percentage, by the customer's address, or by rates of
   * Stripe's own (`txr_…`). It keeps to that when it is swapped.
   */
  withTax(tax: TaxSource): SubscriptionBuilder {
    if (typeof tax !== 'string') for (const rate of tax) requireText('tax rate', rate)
    else if (tax !== 'percentage' && tax !== 'automatic') {
      throw new InvalidArgument(`'${String(tax)}' is no way to tax`)
    }
    return this.#with({ tax })
  }

  /**
   * Subscribes the user. The token comes from the provider's script in the browser; without one the
   * customer's card is used. Details are for a new customer: `{ email, name, phone, … }`.
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
   * What `create()` would charge at once, and what comes when the trial or the first period is over, to the cent. Nothing
   * is made for it, no card is needed, and there need not be a customer; an address for the tax can be given.
   * @example
   * const { now, next } = await user.newSubscription('main', 'monthly').trialDays(10).preview()
   */
  async preview(details: ChangedDetails = {}): Promise<FirstInvoices> {
    const provider = this.#requirePossible()
    requireCapability(provider, BUILDER_NEEDS.preview)
    const { tax = null, ...wanted } = this.#choices
    const asked = { ...wanted, coupon: await this.#coupon() }
    return previewSubscription(this.#context, this.#user.record, asked, { tax, details })
  }

  /** Like `create()`, on a page of the provider's: send the customer to its `url`. */
  async checkout(options: SubscriptionPageOptions): Promise<Checkout> {
    const {
      name,
      plan,
      quantity,
      isMetered,
      trialDays,
      trialEndsAt,
      items = [],
      tax,
    } = this.#choices
    const provider = requireProvider(this.#context, this.#choices.provider)
    requireCapability(provider, BUILDER_NEEDS.checkout)
    this.#requireMetered(provider)
    this.#requireTrialEnd(provider)
    this.#requireStart(provider)
    const { anchorAt, backdateTo, prorate = true, withoutCard = false } = this.#choices
    if (backdateTo) throw new InvalidArgument('What begins on a page does not begin in the past')
    requireKnownPlan(provider, plan)
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
    }
    const lines = [
      { price: plan, quantity: isMetered ? null : quantity },
      ...items.map((item) => ({ price: item.price, quantity: item.quantity })),
    ]
    const wanted = requireCheckout(lines, terms, gateway.toMoney)
    try {
      return await openCheckout(this.#context, this.#user.record, provider.name, wanted)
    } finally {
      await this.#user.reload()
    }
  }

  /** The coupon, or the provider's id of the code that was typed: it is given in the same place. */
  async #coupon(): Promise<string | null> {
    const { coupon, code, provider } = this.#choices
    if (code === undefined) return coupon
    if (coupon !== null) throw new InvalidArgument('A coupon or a promotion code, not both')
    requireCapability(requireProvider(this.#context, provider), BUILDER_NEEDS.withPromotionCode)
    const typed = { text: code, typedBy: this.#user.record, provider }
    return requirePromotionCode(this.#context, typed)
  }

  #requireMetered(provider: Provider): void {
    const { isMetered, quantity, items = [] } = this.#choices
    if (!isMetered && items.every((item) => item.quantity !== null)) return
    requireCapability(provider, BUILDER_NEEDS.meteredPrice)
    if (isMetered && quantity !== 1) {
      throw new InvalidArgument('Usage of the plan is counted: it has no quantity')
    }
  }

  /** What can be said before any call. */
  #requirePossible(): Provider {
    const { plan, quantity, items = [], tax = null } = this.#choices
    const provider = requireProvider(this.#context, this.#choices.provider)
    if (quantity !== 1) requireCapability(provider, BUILDER_NEEDS.quantity)
    if (items.length > 0) requireCapability(provider, BUILDER_NEEDS.price)
    this.#requireMetered(provider)
    this.#requireTrialEnd(provider)
    this.#requireStart(provider)
    requireKnownPlan(provider, plan)
    for (const { price } of items) requireKnownPlan(provider, price)
    requireTaxSource(this.#context, provider, tax)
    return provider
  }

  #requireTrialEnd(provider: Provider): void {
    const { trialEndsAt } = this.#choices
    if (trialEndsAt === undefined) return
    requireCapability(provider, BUILDER_NEEDS.trialUntil)
    requireTrialEnd(trialEndsAt, this.#context.options.clock.now())
  }

  #requireStart(provider: Provider): void {
    const { anchorAt, backdateTo, prorate = true, withoutCard } = this.#choices
    if (anchorAt !== undefined) requireCapability(provider, BUILDER_NEEDS.anchorOn)
    if (backdateTo !== undefined) requireCapability(provider, BUILDER_NEEDS.backdate)
    if (!prorate) requireCapability(provider, BUILDER_NEEDS.noProrate)
    if (withoutCard) requireCapability(provider, BUILDER_NEEDS.withoutCard)
    requireStart(this.#choices, this.#context.options.clock.now())
  }

  #with(choices: Partial<Choices>): SubscriptionBuilder {
    return new SubscriptionBuilder(this.#context, this.#user, { ...this.#choices, ...choices })
  }
}
