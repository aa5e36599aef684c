import type { BillingContext } from '../context.ts'
import type { ProviderPayment } from '../gateways/contract/parts/money/payments.ts'
import type { UsageSummary } from '../gateways/contract/parts/money/usage.ts'
import type { ActiveDiscount, EndReason } from '../gateways/contract/subscription.ts'
import type { SwapPreview } from '../gateways/contract/swap.ts'
import type { UpcomingInvoice } from '../gateways/contract/upcoming-invoice.ts'
import type { ProviderName } from '../provider-name.ts'
import type { BilledOwner, SubscriptionRecord } from '../storage/tables.ts'
import type { UsageReport } from '../usage/report-usage.ts'
import type { PendingConfirmation } from '../values/confirmation.ts'
import type { Money } from '../values/money.ts'
import { isUser, type Owner } from '../values/owner.ts'
import * as state from '../values/subscription-state.ts'
import * as asking from './features/asking.ts'
import * as cancelling from './features/cancelling.ts'
import * as dates from './features/dates.ts'
import * as discounting from './features/discounts.ts'
import * as forecasting from './features/forecasting.ts'
import * as items from './features/items.ts'
import * as pausing from './features/pausing.ts'
import * as paying from './features/paying.ts'
import * as planning from './features/planning.ts'
import * as quantities from './features/quantities.ts'
import * as swapping from './features/swapping.ts'
import * as taxes from './features/taxes.ts'
import * as used from './features/usage.ts'
import { SUBSCRIPTION_NEEDS } from './needs.ts'
import {
  type SubscriptionHaving,
  SubscriptionScope,
  type SwapSettings,
} from './subscription-scope.ts'
import type { SwapOptions } from './swap.ts'

type Needs = typeof SUBSCRIPTION_NEEDS

/** A change of plan or prices, for `preview()`. Each is what the method of a similar name does. */
export type SubscriptionChange =
  | { readonly swap: string | readonly swapping.ItemWanted[] }
  | items.ItemChange

/** Of which call the costs are wanted. */
export interface PreviewOptions extends SwapOptions {
  /** As `swapAndInvoice()`, `addPriceAndInvoice()` and `updateQuantityAndInvoice()` bill it. Default false. */
  readonly invoiceNow?: boolean
}

/**
 * A subscription row, its questions, and what can be done with it. After a change the row is read again.
 * How each thing is done is in `features/`.
 */
export class Subscription {
  readonly #scope: SubscriptionScope

  constructor(
    context: BillingContext,
    user: BilledOwner,
    record: SubscriptionRecord,
    settings: SwapSettings = { skipTrial: false, prorate: true },
  ) {
    this.#scope = new SubscriptionScope(context, user, record, settings)
  }

  /** Of the row. */
  get id(): number {
    return this.#scope.record.id
  }

  /** Whose it is. */
  get owner(): Owner {
    return this.#scope.record.owner
  }

  /** The user whose it is; null where another owner has it. */
  get userId(): string | number | null {
    return isUser(this.owner) ? this.owner.id : null
  }

  /** What the application calls it, such as `main`. */
  get name(): string {
    return this.#scope.record.name
  }

  /** Where it is. */
  get provider(): ProviderName {
    return this.#scope.record.provider
  }

  /** The provider's id. */
  get providerId(): string {
    return this.#scope.record.providerId
  }

  /** The provider's id of the plan. */
  get providerPlan(): string {
    return this.#scope.record.providerPlan
  }

  /** The provider's own word for its state. */
  get providerStatus(): string {
    return this.#scope.record.providerStatus
  }

  /** How many of the plan. */
  get quantity(): number {
    return this.#scope.record.quantity
  }

  /** When the trial ends or ended; null where there was none. */
  get trialEndsAt(): Date | null {
    return this.#scope.record.trialEndsAt
  }

  /** When access ends or ended; null while it goes on. */
  get endsAt(): Date | null {
    return this.#scope.record.endsAt
  }

  /** Since when a charge of it is disputed; null when none is, or all are decided. */
  get disputedAt(): Date | null {
    return this.#scope.record.disputedAt
  }

  /** Since when nobody pays for it, as far as we know; null while it is not paused. */
  get pausedAt(): Date | null {
    return this.#scope.record.pausedAt
  }

  /** The main price from `plannedAt` on, by `swapAtPeriodEnd()`; null where no swap is planned. */
  get plannedPlan(): string | null {
    return this.#scope.record.plannedPlan
  }

  /** When a planned swap comes; null where none is. */
  get plannedAt(): Date | null {
    return this.#scope.record.plannedAt
  }

  /** When the row was made. */
  get createdAt(): Date {
    return this.#scope.record.createdAt
  }

  /** When the row was last changed. */
  get updatedAt(): Date {
    return this.#scope.record.updatedAt
  }

  /** All its prices, the main one first: what the row says, without a call. */
  items(): items.SubscriptionItem[] {
    return items.itemsOf(this.#scope.record)
  }

  /** The price in this subscription, or null. */
  findItem(price: string): items.SubscriptionItem | null {
    return this.items().find((item) => item.price === price) ?? null
  }

  /** Whether this is one of its prices. */
  hasPrice(price: string): boolean {
    return this.findItem(price) !== null
  }

  /** Whether one of its prices is of this product (Stripe); asked of the provider if the rows do not say so. */
  hasProduct(product: string): Promise<boolean> {
    return items.hasProduct(this.#scope, product)
  }

  /** Active, on trial or in the grace period: what `subscribed()` asks. */
  valid(): boolean {
    return state.valid(this.#scope.record, this.#scope.now())
  }

  /** Whether it opens what is paid for: also on trial and in the grace period. */
  active(): boolean {
    return state.active(this.#scope.record, this.#scope.now())
  }

  /** The first payment is missing, or every attempt at a later one failed. */
  incomplete(): boolean {
    return state.incomplete(this.#scope.record)
  }

  /** The first payment is missing and can still come. `create()` with another card or plan goes on. */
  awaitsFirstPayment(): boolean {
    return state.awaitsFirstPayment(this.#scope.record) && !this.ended()
  }

  /**
   * Nobody pays for it, until `unpause()` or the end of the pause. It is `active()` and `valid()` meanwhile, unless the option
   * `pauses: { access: 'suspend' }` says otherwise.
   */
  paused(): boolean {
    return state.paused(this.#scope.record, this.#scope.now())
  }

  /** It opens nothing: a dispute is not decided, or it is paused, and the options say `suspend`. */
  suspended(): boolean {
    return state.suspended(this.#scope.record)
  }

  /** A later payment failed; access stays while the provider goes on trying. */
  pastDue(): boolean {
    return state.pastDue(this.#scope.record) && !this.ended()
  }

  /** Whether the trial has not ended yet. */
  onTrial(): boolean {
    return state.onTrial(this.#scope.record, this.#scope.now())
  }

  /** Whether somebody has cancelled it, whether or not access goes on. */
  cancelled(): boolean {
    return state.cancelled(this.#scope.record)
  }

  /** Cancelled, and access goes on until `endsAt`. */
  onGracePeriod(): boolean {
    return state.onGracePeriod(this.#scope.record, this.#scope.now())
  }

  /** Cancelled, and access is over. */
  ended(): boolean {
    return state.ended(this.#scope.record, this.#scope.now())
  }

  /** Neither on trial nor cancelled: it renews by itself. */
  recurring(): boolean {
    return state.recurring(this.#scope.record, this.#scope.now())
  }

  /** The next `swap()` ends the trial and bills at once. */
  skipTrial(): Subscription {
    return this.#with({ skipTrial: true })
  }

  /** The next `swap()` neither charges nor credits for the running period. */
  noProrate(): Subscription {
    return this.#with({ prorate: false })
  }

  /**
   * Changes the plan; trial, quantity and other prices are kept. In the grace period it also resumes. With a list
   * these are all its prices from then on, the main one first.
   * @example
   * await subscription.swap([{ price: 'pro' }, { price: 'seat', quantity: 5 }])
   */
  async swap(
    plan: string | readonly swapping.ItemWanted[],
    options: SwapOptions = {},
  ): Promise<Subscription> {
    await swapping.swap(this.#scope, { ...options, plan, invoiceNow: false })
    return this.#again()
  }

  /** `swap()` that bills the difference at once instead of with the next invoice. InvalidArgument during a pause. */
  async swapAndInvoice(
    plan: string | readonly swapping.ItemWanted[],
    options: SwapOptions = {},
  ): Promise<Subscription> {
    await swapping.swap(this.#scope, { ...options, plan, invoiceNow: true })
    return this.#again()
  }

  /**
   * Changes the plan with the next bill: until then all stays as it is, and nothing is prorated. With a list these are
   * all its prices from then on, the main one first. Takes the place of what was planned before; the plan that there is
   * already means that nothing changes.
   * @example
   * const { plannedPlan, plannedAt } = await subscription.swapAtPeriodEnd('small')
   */
  async swapAtPeriodEnd(plan: string | readonly swapping.ItemWanted[]): Promise<Subscription> {
    await planning.swapAtPeriodEnd(this.#for('swapAtPeriodEnd'), plan)
    return this.#again()
  }

  /** All that is to change, and when; asked of the provider, null for nothing. */
  async plannedSwap(): Promise<planning.PlannedChange | null> {
    return planning.findPlannedSwap(this.#for('plannedSwap'))
  }

  /** All stays as it is. Nothing happens where no swap is planned. */
  async cancelPlannedSwap(): Promise<Subscription> {
    await planning.cancelPlannedSwap(this.#for('cancelPlannedSwap'))
    return this
  }

  /** What `swap()` would cost; with the same `prorationDate` to the same cent. Nothing is changed. */
  previewSwap(
    plan: string | readonly swapping.ItemWanted[],
    options: SwapOptions = {},
  ): Promise<SwapPreview> {
    return swapping.previewSwap(this.#scope, { ...options, plan, invoiceNow: false })
  }

  /**
   * What any change of prices would cost; the method that makes it, with the same `prorationDate`, charges the same
   * cents. Nothing is changed.
   * @example
   * const { total, prorationDate } = await subscription.preview({ add: 'seat', quantity: 2 })
   * await subscription.addPrice('seat', 2, { prorationDate })
   */
  async preview(change: SubscriptionChange, options: PreviewOptions = {}): Promise<SwapPreview> {
    const scope = this.#for('preview')
    const { invoiceNow = false, ...rest } = options
    if ('swap' in change) {
      return swapping.previewSwap(scope, { ...rest, plan: change.swap, invoiceNow })
    }
    return items.previewItems(scope, change, { ...rest, invoiceNow })
  }

  /** Another price beside those that there are; at Braintree an add-on. A repeat adds it once. */
  async addPrice(price: string, quantity = 1, options: SwapOptions = {}): Promise<Subscription> {
    const change = { add: price, quantity }
    await items.changeItems(this.#for('addPrice'), change, { ...options, invoiceNow: false })
    return this.#again()
  }

  /** `addPrice()` that bills it at once instead of with the next invoice. InvalidArgument during a pause. */
  async addPriceAndInvoice(
    price: string,
    quantity = 1,
    options: SwapOptions = {},
  ): Promise<Subscription> {
    const change = { add: price, quantity }
    await items.changeItems(this.#for('addPriceAndInvoice'), change, {
      ...options,
      invoiceNow: true,
    })
    return this.#again()
  }

  /** Another price that is billed by what was used of it. A repeat adds it once. */
  async addMeteredPrice(price: string, options: SwapOptions = {}): Promise<Subscription> {
    const scope = this.#scope.having('items')
    this.#for('addMeteredPrice')
    const change = { add: price, quantity: null }
    await items.changeItems(scope, change, { ...options, invoiceNow: false })
    return this.#again()
  }

  /**
   * So much was used, by a meter or by a price of this subscription. It is written down and sent afterwards, also when the
   * provider is away. The same `id` of the owner counts once.
   * @example
   * await subscription.reportUsage({ meter: 'api_calls', value: 3, id: request.id })
   */
  async reportUsage(usage: used.SubscriptionUsage): Promise<UsageReport> {
    return used.reportUsage(this.#for('reportUsage'), usage)
  }

  /** What was used, in the running period or between two moments, as the provider has counted it. */
  async usage(query: used.SubscriptionUsageQuery): Promise<UsageSummary[]> {
    return used.listUsage(this.#for('usage'), query)
  }

  /** Without this price from now on; nothing happens when it is not there. The main one is swapped instead. */
  async removePrice(price: string, options: SwapOptions = {}): Promise<Subscription> {
    const change = { remove: price }
    await items.changeItems(this.#for('removePrice'), change, { ...options, invoiceNow: false })
    return this.#again()
  }

  /** Another price in place of one of them, as many as there were of it. ItemNotFound where there is none. */
  async swapItem(from: string, to: string, options: SwapOptions = {}): Promise<Subscription> {
    const scope = this.#for('swapItem')
    if (from === this.providerPlan) return this.swap(to, options)
    await items.changeItems(scope, { replace: from, by: to }, { ...options, invoiceNow: false })
    return this.#again()
  }

  /** Of the plan, where the provider has quantities, or of another price; otherwise Unsupported. */
  async incrementQuantity(count = 1, price?: string): Promise<Subscription> {
    await quantities.addQuantity(this.#forQuantity(price), count, { price })
    return this
  }

  /** Never below 1. Of the plan, where the provider has quantities, or of another price; otherwise Unsupported. */
  async decrementQuantity(count = 1, price?: string): Promise<Subscription> {
    await quantities.takeQuantity(this.#forQuantity(price), count, { price })
    return this
  }

  /** Of the plan, where the provider has quantities, or of another price; otherwise Unsupported. */
  async updateQuantity(
    quantity: number,
    price?: string,
    options: SwapOptions = {},
  ): Promise<Subscription> {
    await quantities.setQuantity(this.#forQuantity(price), { ...options, quantity, price })
    return this
  }

  /**
   * `incrementQuantity()` that bills the difference at once instead of with the next invoice. InvalidArgument during a pause. Where
   * the bank asks the customer, a call after their yes counts one more: `updateQuantityAndInvoice()` can be repeated.
   */
  async incrementAndInvoice(count = 1, price?: string): Promise<Subscription> {
    this.#for('addPriceAndInvoice')
    await quantities.addQuantity(this.#forQuantity(price), count, { price, invoiceNow: true })
    return this
  }

  /** `updateQuantity()` that bills the difference at once instead of with the next invoice. InvalidArgument during a pause. */
  async updateQuantityAndInvoice(
    quantity: number,
    price?: string,
    options: SwapOptions = {},
  ): Promise<Subscription> {
    this.#for('addPriceAndInvoice')
    const wanted = { ...options, quantity, price, invoiceNow: true }
    await quantities.setQuantity(this.#forQuantity(price), wanted)
    return this
  }

  /** Ends when the period that is paid for, or the trial, ends. */
  async cancel(): Promise<Subscription> {
    await cancelling.cancel(this.#scope)
    return this
  }

  /**
   * Ends on that date instead, and renews until then; `resume()` takes it back. What is paid for after it is credited,
   * unless `noProrate()` says otherwise.
   */
  async cancelAt(date: Date): Promise<Subscription> {
    await dates.cancelAt(this.#for('cancelAt'), date)
    return this.#again()
  }

  /** Moves the end of a trial that is under way. InvalidArgument where there is none. */
  async extendTrial(to: Date): Promise<Subscription> {
    await dates.extendTrial(this.#for('extendTrial'), to)
    return this
  }

  /** Ends the trial now and bills. Nothing happens when it is over. InvalidArgument during a pause. */
  async endTrial(): Promise<Subscription> {
    await dates.endTrial(this.#for('endTrial'))
    return this
  }

  /**
   * Ends at once. What a swap has put off to the next bill is dropped, unless `invoiceNow` bills it first.
   * Where the provider puts nothing off, that makes no difference.
   */
  async cancelNow(options: cancelling.CancelNowOptions = {}): Promise<Subscription> {
    await cancelling.cancelNow(this.#scope, options)
    return this
  }

  /** Takes a cancellation back, while still in the grace period. Nothing is billed. */
  async resume(): Promise<Subscription> {
    await cancelling.resume(this.#scope)
    return this
  }

  /**
   * Bills go on, and nobody is asked to pay them, until `until` or `unpause()`. A repeat changes the pause to this one.
   * @example
   * await subscription.pause({ until: new Date('2027-03-01') })
   */
  async pause(options: pausing.PauseOptions = {}): Promise<Subscription> {
    await pausing.pause(this.#for('pause'), options)
    return this
  }

  /** The next bill is to be paid again. Nothing happens when it is not paused. */
  async unpause(): Promise<Subscription> {
    await pausing.unpause(this.#for('unpause'))
    return this
  }

  /** When a pause ends by itself; asked of the provider, null where it does not, or there is none. */
  async pausedUntil(): Promise<Date | null> {
    return pausing.findPausedUntil(this.#for('pausedUntil'))
  }

  /** Gives the subscription the tax that the options say now. Where they say nothing of tax, it keeps what it has. */
  async syncTaxPercentage(): Promise<Subscription> {
    await taxes.syncTaxPercentage(this.#scope)
    return this
  }

  /**
   * What the customer is asked to confirm (3-D Secure), or null: the card of a trial, which works
   * unconfirmed until the first charge, or a bill that is open. For the provider's script in the browser.
   */
  pendingConfirmation(): Promise<PendingConfirmation | null> {
    return paying.findPendingConfirmation(this.#scope)
  }

  /** What a coupon takes off the bills now, and for how long; asked of the provider. */
  discounts(): Promise<ActiveDiscount[]> {
    return asking.findDiscounts(this.#scope)
  }

  /**
   * Takes off what a code gives that somebody has typed, from the next bill on, in place of what was taken off before.
   * PromotionCodeRefused where it gives nothing, TooManyAttempts where somebody guesses. Where the provider has codes;
   * otherwise Unsupported.
   */
  async applyPromotionCode(code: string): Promise<Subscription> {
    await discounting.applyPromotionCode(this.#for('applyPromotionCode'), code)
    return this
  }

  /** The same with a coupon's id, which nobody types. */
  async applyCoupon(coupon: string): Promise<Subscription> {
    await discounting.applyCoupon(this.#for('applyCoupon'), coupon)
    return this
  }

  /** Nothing is taken off from the next bill on. */
  async removeDiscounts(): Promise<Subscription> {
    await discounting.removeDiscounts(this.#for('removeDiscounts'))
    return this
  }

  /** Why it is over: asked of the provider, null while it goes on. */
  endReason(): Promise<EndReason | null> {
    return asking.findEndReason(this.#scope)
  }

  /** When the running period or trial is over: the next bill, or the end if it was cancelled. */
  periodEndsAt(): Promise<Date | null> {
    return asking.findPeriodEnd(this.#scope)
  }

  /** When `cancel()` would end it, or has: the end of the trial or of what is paid for; null for at once. */
  paidUntil(): Promise<Date | null> {
    return asking.findPaidUntil(this.#scope)
  }

  /**
   * The newest attempt to take money for it: where it stands, how much it is, and what the customer has to confirm. Null
   * when it was never charged. Asked of the provider.
   */
  async latestPayment(): Promise<ProviderPayment | null> {
    return paying.findLatestPayment(this.#for('latestPayment'))
  }

  /** Throws PaymentActionRequired or PaymentFailed while its newest payment is missing. */
  requirePaid(): Promise<void> {
    return paying.requirePaid(this.#scope)
  }

  /**
   * The next bill as things stand, with its date, lines and total: what is charged then, to the cent. Null when none comes,
   * because it ends, is not paid for yet, or is paused. Asked of the provider; at Braintree with what was used so far.
   */
  async upcomingInvoice(): Promise<UpcomingInvoice | null> {
    return forecasting.findUpcoming(this.#for('upcomingInvoice'))
  }

  /** What is owed now because payments failed; zero when nothing is. Once it has ended, `invoice.pay()` pays it. */
  amountOwed(): Promise<Money | null> {
    return paying.findAmountOwed(this.#scope)
  }

  /**
   * Tries to pay what is owed now, with the card that there is, instead of waiting for the provider's next
   * attempt. Nothing happens when nothing is owed. Throws PaymentFailed or PaymentActionRequired.
   */
  async payNow(): Promise<Subscription> {
    await paying.payNow(this.#scope)
    return this
  }

  /** The SDK's own object. */
  asProvider(): Promise<unknown> {
    return asking.readFromProvider(this.#scope)
  }

  /** For a method that not every provider can do: Unsupported before anything else. */
  #for<Method extends keyof Needs>(method: Method): SubscriptionHaving<Needs[Method]> {
    return this.#scope.having(SUBSCRIPTION_NEEDS[method])
  }

  #forQuantity(price: string | undefined): SubscriptionScope {
    return this.#scope.having(
      price === this.providerPlan ? 'quantities' : quantities.partFor(price),
    )
  }

  /** Without what was said of the swap that is done. */
  #again(): Subscription {
    const { context, user, record } = this.#scope
    return new Subscription(context, user, record)
  }

  #with(settings: Partial<SwapSettings>): Subscription {
    const { context, user, record, settings: before } = this.#scope
    return new Subscription(context, user, record, { ...before, ...settings })
  }
}
