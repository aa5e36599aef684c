import { taxAt } from '../consistency/keep-tax.ts'
import type { BillingContext } from '../context.ts'
import type { LoadedOwner } from '../customers/loaded-owner.ts'
import { readTax } from '../customers/read-tax.ts'
import { NoCustomer } from '../errors.ts'
import type { Gateway } from '../gateways/contract/gateway.ts'
import { type Capability, requireCapability } from '../gateways/contract/parts.ts'
import type { TaxOf } from '../gateways/contract/payment.ts'
import type { ProviderName } from '../provider-name.ts'
import { requireProvider } from '../subscriptions/known-plans.ts'
import type { Owner } from '../values/owner.ts'
import type { BasisPoints } from '../values/tax.ts'

/** What the features of a user work with: its row as it was last read, its customer, and the provider. */
export class UserScope {
  readonly context: BillingContext
  readonly user: LoadedOwner

  constructor(context: BillingContext, user: LoadedOwner) {
    this.context = context
    this.user = user
  }

  get owner(): Owner {
    return this.user.record.owner
  }

  /** Where this user pays, or would. */
  get provider(): ProviderName {
    return this.user.record.provider ?? this.context.options.defaultProvider
  }

  /** The same, for what needs a part: Unsupported where the provider has none, before any call. */
  having<Part extends Capability>(part: Part): UserHaving<Part> {
    requireCapability(requireProvider(this.context, this.provider), part)
    // Its gateway has the part: whoever defines a provider is held to that by the compiler.
    return this as UserScope as UserHaving<Part>
  }

  /** For whoever holds no lock. */
  gateway(): Promise<Gateway> {
    return this.context.gateway(this.provider)
  }

  /** Looked up again: it may have been made since this user was read, or given to another owner. */
  async findCustomerId(): Promise<string | null> {
    return (await this.user.reload()).providerId
  }

  async requireCustomerId(): Promise<string> {
    const customerId = await this.findCustomerId()
    if (customerId !== null) return customerId
    throw new NoCustomer(
      `The ${this.owner.type} has no customer yet: call updateCard() or create a subscription`,
    )
  }

  /** The user's tax percentage as the application says it now. */
  tax(): Promise<BasisPoints> {
    return readTax(this.context, this.user.record)
  }

  /** The tax within each charge, where the provider does not know it. */
  async taxOf(): Promise<TaxOf> {
    return taxAt(await this.context.taxes.listByOwner(this.owner), await this.tax())
  }

  now(): Date {
    return this.context.options.clock.now()
  }
}

/** One whose provider has the part: got by `having`, and by nothing else. */
export interface UserHaving<Part extends Capability> extends UserScope {
  gateway(): Promise<Gateway<Part>>
}
