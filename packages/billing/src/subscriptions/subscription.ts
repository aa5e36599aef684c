import { columnsOf } from '../consistency/converge.ts'
import { keepTax } from '../consistency/keep-tax.ts'
import { abandon } from '../consistency/settle-first-payment.ts'
import type { BillingContext } from '../context.ts'
import { InvalidArgument, SubscriptionEnded } from '../errors.ts'
import type { Gateway } from '../gateways/contract/gateway.ts'
import { requireCapability, requirePart } from '../gateways/contract/parts.ts'
import type { ActiveDiscount, EndReason } from '../gateways/contract/subscription.ts'
import type { Swap, SwapPreview } from '../gateways/contract/swap.ts'
import type { PendingConfirmation } from '../payment-errors.ts'
import type { ProviderName } from '../provider-name.ts'
import type { BilledUser, SubscriptionRecord } from '../storage/tables.ts'
import { requireCount } from '../values/arguments.ts'
import type { Money } from '../values/money.ts'
import * as state from '../values/subscription-state.ts'
import { parseTaxPercentage } from '../values/tax.ts'
import { changeSubscription, type SubscriptionChange } from './change.ts'
import { requireKnownPlan, requireProvider } from './known-plans.ts'
import { resumeSubscription } from './resume.ts'
import { replaceSubscription, type SwapOptions, swapSubscription } from './swap.ts'

/** Access is over when it is done. */
const ENDS = { ends: true } as const

/** How a subscription is ended at once. */
export interface CancelNowOptions {
  /** Bill what is still to be billed, such as the difference of a swap. Default false. */
  readonly invoiceNow?: boolean
}

interface SwapSettings {
  readonly skipTrial: boolean
  readonly prorate: boolean
}

/** A subscription row, its questions, and what can be done with it. After a change the row is read again. */
export class Subscription {
  readonly #context: BillingContext
  readonly #user: BilledUser
  readonly #settings: SwapSettings
  #record: SubscriptionRecord

  constructor(
    context: BillingContext,
    user: BilledUser,
    record: SubscriptionRecord,
    settings: SwapSettings = { skipTrial: false, prorate: true },
  ) {
    this.#context = context
    this.#user = user
    this.#record = record
    this.#settings = settings
  }

  /** Of the row. */
  get id(): number {
    return this.#record.id
  }

  /** Whose it is. */
  get userId(): string | number {
    return this.#record.userId
  }

  /** What the application calls it, such as `main`. */
  get name(): string {
    return this.#record.name
  }

  /** Where it is. */
  get provider(): ProviderName {
    return this.#record.provider
  }

  /** The provider's id. */
  get providerId(): string {
    return this.#record.providerId
  }

  /** The provider's id of the plan. */
  get providerPlan(): string {
    return this.#record.providerPlan
  }

  /** The provider's own word for its state. */
  get providerStatus(): string {
    return this.#record.providerStatus
  }

  /** How many of the plan. */
  get quantity(): number {
    return this.#record.quantity
  }

  /** When the trial ends or ended; null where there was none. */
  get trialEndsAt(): Date | null {
    return this.#record.trialEndsAt
  }

  /** When access ends or ended; null while it goes on. */
  get endsAt(): Date | null {
    return this.#record.endsAt
  }

  /** When the row was made. */
  get createdAt(): Date {
    return this.#record.createdAt
  }

  /** When the row was last changed. */
  get updatedAt(): Date {
    return this.#record.updatedAt
  }

  /** Active, on trial or in the grace period: what `subscribed()` asks. */
  valid(): boolean {
    return state.valid(this.#record, this.#now())
  }

  /** Whether it opens what is paid for: also on trial and in the grace period. */
  active(): boolean {
    return state.active(this.#record, this.#now())
  }

  /** The first payment is missing, or every attempt at a later one failed. */
  incomplete(): boolean {
    return state.incomplete(this.#record)
  }

  /** The first payment is missing and can still come. `create()` with another card or plan goes on. */
  awaitsFirstPayment(): boolean {
    return state.awaitsFirstPayment(this.#record) && !this.ended()
  }

  /** A later payment failed; access stays while the provider goes on trying. */
  pastDue(): boolean {
    return state.pastDue(this.#record) && !this.ended()
  }

  /** Whether the trial has not ended yet. */
  onTrial(): boolean {
    return state.onTrial(this.#record, this.#now())
  }

  /** Whether somebody has cancelled it, whether or not access goes on. */
  cancelled(): boolean {
    return state.cancelled(this.#record)
  }

  /** Cancelled, and access goes on until `endsAt`. */
  onGracePeriod(): boolean {
    return state.onGracePeriod(this.#record, this.#now())
  }

  /** Cancelled, and access is over. */
  ended(): boolean {
    return state.ended(this.#record, this.#now())
  }

  /** Neither on trial nor cancelled: it renews by itself. */
  recurring(): boolean {
    return state.recurring(this.#record, this.#now())
  }

  /** The next `swap()` ends the trial and bills at once. */
  skipTrial(): Subscription {
    return this.#with({ skipTrial: true })
  }

  /** The next `swap()` neither charges nor credits for the running period. */
  noProrate(): Subscription {
    return this.#with({ prorate: false })
  }

  /** Changes the plan; trial and quantity are kept. In the grace period it also resumes. */
  swap(plan: string, options: SwapOptions = {}): Promise<Subscription> {
    return this.#swap(plan, options, false)
  }

  /** `swap()` that bills the difference at once instead of with the next invoice. */
  swapAndInvoice(plan: string, options: SwapOptions = {}): Promise<Subscription> {
    return this.#swap(plan, options, true)
  }

  /** What `swap()` would cost; with the same `prorationDate` to the same cent. Nothing is changed. */
  async previewSwap(plan: string, options: SwapOptions = {}): Promise<SwapPreview> {
    this.#requireRunning()
    const gateway = await this.#gateway()
    const wanted = await this.#wanted(plan, options, false)
    return gateway.previewSwap(this.providerId, wanted, this.#now())
  }

  /** Where the provider has quantities; otherwise Unsupported. */
  async incrementQuantity(count = 1): Promise<Subscription> {
    requireCount(count)
    return this.#changeQuantity((quantity) => quantity + count)
  }

  /** Never below 1. Where the provider has quantities; otherwise Unsupported. */
  async decrementQuantity(count = 1): Promise<Subscription> {
    requireCount(count)
    return this.#changeQuantity((quantity) => Math.max(1, quantity - count))
  }

  /** Where the provider has quantities; otherwise Unsupported. */
  async updateQuantity(quantity: number): Promise<Subscription> {
    requireCount(quantity)
    return this.#changeQuantity(() => quantity)
  }

  /** Ends when the period that is paid for, or the trial, ends. */
  cancel(): Promise<Subscription> {
    return this.#change(async ({ found, ask }) => {
      if (found.endsAt === null) await ask((gateway) => gateway.cancelAtPeriodEnd(found.id))
    })
  }

  /**
   * Ends at once. What a swap has put off to the next bill is dropped, unless `invoiceNow` bills it first.
   * Where the provider puts nothing off, that makes no difference.
   */
  cancelNow({ invoiceNow = false }: CancelNowOptions = {}): Promise<Subscription> {
    return this.#change(async ({ found, locked, ask }) => {
      const columns = columnsOf(this.#context, this.provider, found)
      // Also its bill, which would stay open.
      if (state.awaitsFirstPayment(columns)) await abandon(locked, this.provider, found)
      await ask((gateway) => gateway.cancelNow(found.id, { invoiceNow }))
    }, ENDS)
  }

  /** Takes a cancellation back, while still in the grace period. Nothing is billed. */
  async resume(): Promise<Subscription> {
    if (this.onGracePeriod()) {
      const found = await (await this.#gateway()).findSubscription(this.providerId)
      if (found?.isOver) return this.#resumeAnew()
    }
    this.#record = await resumeSubscription(this.#context, this.#record)
    return this
  }

  /** Gives the subscription the tax percentage that the user has now. */
  syncTaxPercentage(): Promise<Subscription> {
    this.#requireRunning()
    return this.#change(async ({ found, locked, ask }) => {
      const tax = await this.#tax()
      const before = await this.#context.taxes.find(this.provider, found.id)
      await ask((gateway) => gateway.setTax(found.id, tax, before))
      if (found.isOver || found.taxedPrice === null) return
      const gateway = await locked.gateway(this.provider)
      const taxed = before ? found : await gateway.findSubscription(found.id)
      const { lastChargeAt } = found
      const terms = { found: taxed ?? found, tax, lastChargeAt, net: before?.net }
      await keepTax(this.#context, locked, this.provider, terms)
    })
  }

  /**
   * What the customer is asked to confirm (3-D Secure), or null: the card of a trial, which works
   * unconfirmed until the first charge, or a bill that is open. For the provider's script in the browser.
   */
  async pendingConfirmation(): Promise<PendingConfirmation | null> {
    if (this.ended()) return null
    return (await this.#gateway()).confirmations?.find(this.providerId) ?? null
  }

  /** What a coupon takes off the bills now, and for how long; asked of the provider. */
  async discounts(): Promise<ActiveDiscount[]> {
    if (this.ended()) return []
    return (await this.#gateway()).findDiscounts(this.providerId)
  }

  /** Why it is over: asked of the provider, null while it goes on. */
  async endReason(): Promise<EndReason | null> {
    if (!this.ended()) return null
    const found = await (await this.#gateway()).findSubscription(this.providerId)
    return found?.endReason ?? null
  }

  /** When the running period or trial is over: the next bill, or the end if it was cancelled. */
  async periodEndsAt(): Promise<Date | null> {
    const found = await (await this.#gateway()).findSubscription(this.providerId)
    return found?.periodEndsAt ?? null
  }

  /** When `cancel()` would end it, or has: the end of the trial or of what is paid for; null for at once. */
  async paidUntil(): Promise<Date | null> {
    if (this.cancelled()) return this.endsAt
    const found = await (await this.#gateway()).findSubscription(this.providerId)
    return found?.paidUntil ?? null
  }

  /** Throws PaymentActionRequired or PaymentFailed while its newest payment is missing. */
  async requirePaid(): Promise<void> {
    const gateway = await this.#gateway()
    const found = await gateway.findSubscription(this.providerId)
    if (found) await gateway.requirePaid(found)
  }

  /** What is owed now because payments failed; zero when nothing is. */
  async amountOwed(): Promise<Money | null> {
    const gateway = await this.#gateway()
    const found = await gateway.findSubscription(this.providerId)
    return found ? gateway.amountOwed(found) : null
  }

  /**
   * Tries to pay what is owed now, with the card that there is, instead of waiting for the provider's next
   * attempt. Nothing happens when nothing is owed. Throws PaymentFailed or PaymentActionRequired.
   */
  payNow(): Promise<Subscription> {
    return this.#change(({ found, ask }) => ask((gateway) => gateway.payNow(found)))
  }

  /** The SDK's own object. */
  async asProvider(): Promise<unknown> {
    const found = await (await this.#gateway()).findSubscription(this.providerId)
    return found?.raw ?? null
  }

  /** Where the provider has cancelled already: another one with the same terms, for what is left. */
  async #resumeAnew(): Promise<Subscription> {
    const wanted: Swap = {
      plan: this.providerPlan,
      skipTrial: false,
      prorate: true,
      keepsPrice: true,
      invoiceNow: false,
      tax: await this.#tax(),
      before: await this.#context.taxes.find(this.provider, this.providerId),
      prorationDate: null,
    }
    this.#record = await replaceSubscription(this.#context, this.#user, this.#record, wanted)
    return this
  }

  async #swap(plan: string, options: SwapOptions, invoiceNow: boolean): Promise<Subscription> {
    this.#requireRunning()
    const wanted = await this.#wanted(plan, options, invoiceNow)
    const record = await swapSubscription(this.#context, this.#user, this.#record, wanted)
    this.#record = record
    return new Subscription(this.#context, this.#user, record)
  }

  async #wanted(plan: string, options: SwapOptions, invoiceNow: boolean): Promise<Swap> {
    if (typeof plan !== 'string' || plan === '') throw new InvalidArgument('Which plan to swap to?')
    requireKnownPlan(requireProvider(this.#context, this.provider), plan)
    return {
      ...this.#settings,
      plan,
      invoiceNow,
      tax: await this.#tax(),
      before: await this.#context.taxes.find(this.provider, this.providerId),
      prorationDate: options.prorationDate ?? null,
    }
  }

  async #changeQuantity(next: (quantity: number) => number): Promise<Subscription> {
    requireCapability(requireProvider(this.#context, this.provider), 'quantities')
    this.#requireRunning()
    return this.#change(({ found, ask }) => {
      const quantity = requireCount(next(found.quantity))
      return ask((gateway) => requirePart(gateway, 'quantities').set(found.id, quantity))
    })
  }

  async #change(change: SubscriptionChange, how?: typeof ENDS): Promise<Subscription> {
    this.#record = await changeSubscription(this.#context, this.#record, change, how)
    return this
  }

  #requireRunning(): void {
    if (!this.ended()) return
    throw new SubscriptionEnded('The subscription has ended: create a new one')
  }

  async #tax(): Promise<number> {
    return parseTaxPercentage(
      await this.#context.options.taxPercentage({ ...this.#user.attributes }),
    )
  }

  #gateway(): Promise<Gateway> {
    return this.#context.gateway(this.provider)
  }

  #with(settings: Partial<SwapSettings>): Subscription {
    const all = { ...this.#settings, ...settings }
    return new Subscription(this.#context, this.#user, this.#record, all)
  }

  #now(): Date {
    return this.#context.options.clock.now()
  }
}
