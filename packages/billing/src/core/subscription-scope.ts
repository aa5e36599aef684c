import type { Gateway } from '../providers/gateway.ts'
import { type Capability, requireCapability } from '../providers/gateway-parts.ts'
import type { ProviderSubscription } from '../providers/subscription.ts'
import type { BillingContext } from './context.ts'
import { endSubscriptionRow, refreshSubscriptionRow } from './converge.ts'
import { isBillingError } from './errors/error-codes.ts'
import { NoSubscription, SubscriptionEnded } from './errors/errors.ts'
import { requireProvider } from './known-prices.ts'
import type { LockedOwner } from './locked-owner.ts'
import { resumeInterrupted, withOwnerLock } from './owner-lock.ts'
import type { BilledOwner, SubscriptionRecord } from './storage/tables.ts'
import { stillBelongsToOwner } from './subscription-owner.ts'
import { readSubscriptionTax, type SubscriptionTax } from './tax.ts'
import { formatOwnerKey } from './values/owner.ts'
import { hasSubscriptionEnded } from './values/subscription-state.ts'
import type { TaxTerms } from './values/tax.ts'

/** Settings of the next `swap()`: whether it ends the trial, and whether it prorates. */
export interface SwapSettings {
  readonly skipTrial: boolean
  readonly prorate: boolean
}

/**
 * The scope of a subscription's features: its row as last read, its owner, and access to the
 * provider.
 */
export class SubscriptionScope {
  readonly context: BillingContext
  readonly user: BilledOwner
  readonly settings: SwapSettings
  record: SubscriptionRecord

  constructor(
    context: BillingContext,
    user: BilledOwner,
    record: SubscriptionRecord,
    settings: SwapSettings,
  ) {
    this.context = context
    this.user = user
    this.record = record
    this.settings = settings
  }

  /**
   * Returns this scope, for features that need a capability.
   * @throws Unsupported if the provider lacks it, before any request is sent.
   */
  withCapability<Part extends Capability>(part: Part): SubscriptionScopeWith<Part> {
    requireCapability(requireProvider(this.context, this.record.provider), part)
    // The compiler ensures that a provider's gateway has the capabilities it declares.
    return this as SubscriptionScope as SubscriptionScopeWith<Part>
  }

  /** Whether the provider has a capability. `false` if the provider is no longer configured. */
  hasCapability(part: Capability): boolean {
    return this.context.options.providers.find(this.record.provider)?.can.includes(part) ?? false
  }

  /**
   * Connects to the provider without a lock. To change something under the owner's lock, use
   * `change()`.
   */
  gateway(): Promise<Gateway> {
    return this.context.gateway(this.record.provider)
  }

  /** Reads the subscription from the provider. `null` if it no longer exists there. */
  async find(): Promise<ProviderSubscription | null> {
    return (await this.gateway()).findSubscription(this.record.providerId)
  }

  /**
   * Reads the subscription from the provider.
   * @throws NoSubscription if it no longer exists there.
   */
  async requireFound(): Promise<ProviderSubscription> {
    const found = await this.find()
    if (found) return found
    throw new NoSubscription('The provider no longer has this subscription')
  }

  /**
   * Awaits a preview that was requested from the provider.
   * @throws SubscriptionEnded if the request was rejected because the subscription has ended at the
   * provider.
   */
  async awaitPreview<T>(asked: Promise<T>): Promise<T> {
    try {
      return await asked
    } catch (error) {
      const found = await this.find().catch(() => null)
      throw found?.isOver ? toSubscriptionEnded(error) : error
    }
  }

  /** Makes one change at the provider under the owner's lock, then reads the row again. */
  async change(applyChange: ChangeAtProvider, changeOptions?: ChangeOptions): Promise<void> {
    this.record = await changeSubscription(this.context, this.record, applyChange, changeOptions)
  }

  /** Reads the tax that the application currently sets for this price and its additional prices. */
  readConfiguredTax(price: string, others: readonly string[] = []): Promise<SubscriptionTax> {
    return readSubscriptionTax(this.context, this.user, price, null, others)
  }

  /**
   * Reads the tax for a swap. If the application sets no tax, the tax that our rows store for the
   * subscription is kept, just as a provider that stores taxes itself would keep it.
   */
  async readSwapTax(
    price: string,
    others?: readonly string[],
  ): Promise<SubscriptionTax & { readonly before: TaxTerms | null }> {
    const said = await this.readConfiguredTax(price, others)
    const before = await this.context.taxes.find(this.record.provider, this.record.providerId)
    return { ...said, tax: said.keepsTax && before ? before.tax : said.tax, before }
  }

  now(): Date {
    return this.context.options.clock.now()
  }

  isEnded(): boolean {
    return hasSubscriptionEnded(this.record, this.now())
  }

  requireRunning(): void {
    if (!this.isEnded()) return
    throw new SubscriptionEnded('The subscription has ended: create a new one')
  }
}

/** A scope whose provider has a capability, as returned by `withCapability()`. */
export interface SubscriptionScopeWith<Part extends Capability> extends SubscriptionScope {
  gateway(): Promise<Gateway<Part>>
}

/** The subscription as it is at the provider, and its locked owner. */
export interface CurrentSubscription {
  /** The provider's subscription, read while holding the owner's lock. */
  readonly found: ProviderSubscription
  readonly locked: LockedOwner
  /** Makes one change at the provider. */
  ask<R>(change: (gateway: Gateway) => Promise<R>): Promise<R>
}

export type ChangeAtProvider = (current: CurrentSubscription) => Promise<void>

export interface ChangeOptions {
  /** Whether the change ends access. */
  readonly ends?: boolean
  /**
   * Called as the last step, after the row is written. If the process is killed before that, the
   * operation is resumed later.
   */
  readonly settle?: (locked: LockedOwner) => Promise<void>
}

/**
 * Makes a change to a subscription: reads it, applies the change at the provider, and updates our
 * row from the result.
 */
export async function changeSubscription(
  context: BillingContext,
  record: SubscriptionRecord,
  change: ChangeAtProvider,
  { ends = false, settle }: ChangeOptions = {},
): Promise<SubscriptionRecord> {
  return withOwnerLock(context, record.owner, async (locked) => {
    await resumeInterrupted(context, locked)
    await requireUnchangedOwner(context, record)
    const gateway = await locked.gateway(record.provider)
    const found = await gateway.findSubscription(record.providerId)
    if (!found) throw new NoSubscription('The provider no longer has this subscription')
    try {
      await change({ found, locked, ask: (each) => locked.change(record.provider, each) })
    } catch (error) {
      // The subscription was ended elsewhere, and our row may not say so yet.
      throw found.isOver ? toSubscriptionEnded(error) : error
    } finally {
      // Also after a failure: after a timeout, the provider may have made the change.
      await refreshSubscriptionRow(context, locked, record)
    }
    if (ends) await endSubscriptionRow(context, locked, record)
    await settle?.(locked)
    return requireSubscriptionRecord(context, record)
  })
}

/**
 * Checks that a subscription still has the owner that it had when it was read.
 * @throws NoSubscription if it was transferred to another owner since then.
 */
export async function requireUnchangedOwner(
  context: BillingContext,
  { owner, provider, providerId }: SubscriptionRecord,
): Promise<void> {
  const row = await context.subscriptions.findByProvider(provider, providerId)
  if (!row) return
  const isTheirs =
    formatOwnerKey(row.owner) === formatOwnerKey(owner) && (await stillBelongsToOwner(context, row))
  if (!isTheirs)
    throw new NoSubscription(`The subscription no longer belongs to this ${owner.type}`)
}

/**
 * Converts a rejection by the provider to SubscriptionEnded. Other errors are returned as they are.
 */
export function toSubscriptionEnded(error: unknown): unknown {
  if (!isBillingError(error, 'provider_rejected')) return error
  return new SubscriptionEnded('The subscription has ended: create a new one', { cause: error })
}

export async function requireSubscriptionRecord(
  context: BillingContext,
  { provider, providerId }: Pick<SubscriptionRecord, 'provider' | 'providerId'>,
): Promise<SubscriptionRecord> {
  const record = await context.subscriptions.findByProvider(provider, providerId)
  if (!record) throw new NoSubscription('There is no such subscription')
  return record
}
