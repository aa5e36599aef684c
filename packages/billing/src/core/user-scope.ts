import type { Gateway } from '../providers/gateway.ts'
import { type Capability, requireCapability } from '../providers/gateway-parts.ts'
import type { BillingContext } from './context.ts'
import { NoCustomer, UserNotFound } from './errors/errors.ts'
import { requireProvider } from './known-prices.ts'
import type { BilledOwner } from './storage/tables.ts'
import { createTaxLookup, readTax } from './tax.ts'
import type { Owner } from './values/owner.ts'
import type { ProviderName } from './values/provider-name.ts'
import type { BasisPoints, TaxLookup } from './values/tax.ts'

/**
 * The scope of a user's features: its row as last read, its customer, and access to the provider.
 */
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

  /** The provider this user pays through, or the default provider. */
  get provider(): ProviderName {
    return this.user.record.provider ?? this.context.options.defaultProvider
  }

  /**
   * Returns this scope, for features that need a capability.
   * @throws Unsupported if the provider lacks it, before any request is sent.
   */
  withCapability<Part extends Capability>(part: Part): UserScopeWith<Part> {
    requireCapability(requireProvider(this.context, this.provider), part)
    // The compiler ensures that a provider's gateway has the capabilities it declares.
    return this as UserScope as UserScopeWith<Part>
  }

  /** Whether the provider has a capability. `false` if the provider is no longer configured. */
  can(part: Capability): boolean {
    return this.context.options.providers.find(this.provider)?.can.includes(part) ?? false
  }

  /** Connects to the provider without a lock. Changes need the owner's lock. */
  gateway(): Promise<Gateway> {
    return this.context.gateway(this.provider)
  }

  /**
   * Reads the customer id again: the customer may have been created, or transferred, since this
   * user was read.
   */
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

  /** Reads the user's current tax percentage from the application. */
  readTaxPercentage(): Promise<BasisPoints> {
    return readTax(this.context, this.user.record)
  }

  /**
   * Returns a function that finds the tax contained in each charge, for providers that do not store
   * taxes.
   */
  async createChargeTaxLookup(): Promise<TaxLookup> {
    return createTaxLookup(
      await this.context.taxes.listByOwner(this.owner),
      await this.readTaxPercentage(),
    )
  }

  now(): Date {
    return this.context.options.clock.now()
  }
}

/** A scope whose provider has a capability, as returned by `withCapability()`. */
export interface UserScopeWith<Part extends Capability> extends UserScope {
  gateway(): Promise<Gateway<Part>>
}

/**
 * An owner's row as last read. The object is shared, so a reload is visible to all objects that
 * hold it.
 */
export class LoadedOwner {
  readonly #context: BillingContext
  #record: BilledOwner

  constructor(context: BillingContext, record: BilledOwner) {
    this.#context = context
    this.#record = record
  }

  get record(): BilledOwner {
    return this.#record
  }

  /**
   * Reads the owner's row again. If the row was deleted meanwhile, keeps the values that were read
   * before.
   */
  async reload(): Promise<BilledOwner> {
    this.#record = (await this.#context.owners.find(this.#record.owner)) ?? this.#record
    return this.#record
  }
}

/**
 * Reads an owner's row.
 * @throws UserNotFound if it does not exist.
 */
export async function requireOwner({ owners }: BillingContext, owner: Owner): Promise<BilledOwner> {
  const found = await owners.find(owner)
  if (found) return found
  throw new UserNotFound(`There is no ${owner.type} ${owner.id}`)
}
