import type { BillingContext } from '../context.ts'
import { readSubscriptionTax, type SubscriptionTax } from '../customers/read-tax.ts'
import { NoSubscription, SubscriptionEnded } from '../errors.ts'
import type { Gateway } from '../gateways/contract/gateway.ts'
import { type Capability, requireCapability } from '../gateways/contract/parts.ts'
import type { ProviderSubscription } from '../gateways/contract/subscription.ts'
import type { BilledOwner, SubscriptionRecord } from '../storage/tables.ts'
import { ended } from '../values/subscription-state.ts'
import type { TaxTerms } from '../values/tax.ts'
import { asEnded, type ChangeAtProvider, type ChangeOptions, changeSubscription } from './change.ts'
import { requireProvider } from './known-plans.ts'

/** How the next swap is made. */
export interface SwapSettings {
  readonly skipTrial: boolean
  readonly prorate: boolean
}

/** What the features of a subscription work with: its row as it was last read, its user, and the provider. */
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

  /** The same, for what needs a part: Unsupported where the provider has none, before any call. */
  having<Part extends Capability>(part: Part): SubscriptionHaving<Part> {
    requireCapability(requireProvider(this.context, this.record.provider), part)
    // Its gateway has the part: whoever defines a provider is held to that by the compiler.
    return this as SubscriptionScope as SubscriptionHaving<Part>
  }

  /** Whether its provider has the part. */
  can(part: Capability): boolean {
    return requireProvider(this.context, this.record.provider).can.includes(part)
  }

  /** For whoever holds no lock. */
  gateway(): Promise<Gateway> {
    return this.context.gateway(this.record.provider)
  }

  /** As the provider has it now; null when it has none. */
  async find(): Promise<ProviderSubscription | null> {
    return (await this.gateway()).findSubscription(this.record.providerId)
  }

  /** The same, or NoSubscription. */
  async requireFound(): Promise<ProviderSubscription> {
    const found = await this.find()
    if (found) return found
    throw new NoSubscription('The provider no longer has this subscription')
  }

  /** What is asked for a preview: what is refused because it is over there says so. */
  async ask<T>(asked: Promise<T>): Promise<T> {
    try {
      return await asked
    } catch (error) {
      const found = await this.find().catch(() => null)
      throw found?.isOver ? asEnded(error) : error
    }
  }

  /** One change at the provider under the user's lock. The row is read again. */
  async change(change: ChangeAtProvider, how?: ChangeOptions): Promise<void> {
    this.record = await changeSubscription(this.context, this.record, change, how)
  }

  /** What the application says of its tax now, with this plan and the prices beside it. */
  tax(plan: string, others: readonly string[] = []): Promise<SubscriptionTax> {
    return readSubscriptionTax(this.context, this.user, plan, null, others)
  }

  /**
   * The same for a swap, which says the price anew: where the application says nothing, the tax that we keep inside the price
   * stays, as a provider who keeps it leaves it.
   */
  async taxOfSwap(
    plan: string,
    others?: readonly string[],
  ): Promise<SubscriptionTax & { readonly before: TaxTerms | null }> {
    const said = await this.tax(plan, others)
    const before = await this.context.taxes.find(this.record.provider, this.record.providerId)
    return { ...said, tax: said.keepsTax && before ? before.tax : said.tax, before }
  }

  now(): Date {
    return this.context.options.clock.now()
  }

  isEnded(): boolean {
    return ended(this.record, this.now())
  }

  requireRunning(): void {
    if (!this.isEnded()) return
    throw new SubscriptionEnded('The subscription has ended: create a new one')
  }
}

/** One whose provider has the part: got by `having`, and by nothing else. */
export interface SubscriptionHaving<Part extends Capability> extends SubscriptionScope {
  gateway(): Promise<Gateway<Part>>
}
