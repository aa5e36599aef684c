import type { BillingContext } from './core/context.ts'
import type { BilledOwner } from './core/storage/tables.ts'
import { LoadedOwner, UserScope } from './core/user-scope.ts'
import type { Owner } from './core/values/owner.ts'
import type { ProviderName } from './core/values/provider-name.ts'
import type { Capability } from './providers/gateway-parts.ts'

/**
 * Returns the internal scope of a user (its row, its customer and its provider), for features that
 * add methods to `BillableUser`.
 */
export let getUserScope: (user: BillableUser) => UserScope

/**
 * A user (or another owner, such as a team) with everything billing can do for it. Make one per
 * request with `billing.user()`; do not keep it across requests.
 *
 * Each feature declares its methods in its own `feature.ts`; `features/all.ts` lists the features.
 */
export class BillableUser<User = Record<string, unknown>> {
  readonly #scope: UserScope

  static {
    getUserScope = (user) => user.#scope
  }

  constructor(context: BillingContext, record: BilledOwner) {
    this.#scope = new UserScope(context, new LoadedOwner(context, record))
  }

  /** Primary key of the row in the application's own table. */
  get id(): string | number {
    return this.owner.id
  }

  /** The owner's type (`user`, or a key of the option `owners`) and id. */
  get owner(): Owner {
    return this.#record.owner
  }

  /** The row of the application's own table, as it was read. */
  get attributes(): User {
    return this.#record.attributes as User
  }

  /** The provider this user pays through, or the default provider if none was chosen yet. */
  get provider(): ProviderName {
    return this.#scope.provider
  }

  /** The customer's id at the provider. `null` until the user has a customer there. */
  get providerId(): string | null {
    return this.#record.providerId
  }

  /** Brand of the default card, such as `visa`. `null` if the user has no card. */
  get cardBrand(): string | null {
    return this.#record.cardBrand
  }

  /** Last four digits of the default card. `null` if the user has no card. */
  get cardLastFour(): string | null {
    return this.#record.cardLastFour
  }

  /** E-mail address of the PayPal account that is charged. `null` if the user pays by card. */
  get paypalEmail(): string | null {
    return this.#record.paypalEmail
  }

  /**
   * The last month in which the default card is valid, such as `2027-04`. `null` if there is no
   * card, or the payment method does not expire.
   */
  get cardExpires(): string | null {
    return this.#record.cardExpires ?? null
  }

  /**
   * When the generic trial of the user ends (a trial without a subscription and without a card).
   * `null` if there is none.
   */
  get trialEndsAt(): Date | null {
    return this.#record.trialEndsAt
  }

  /**
   * Whether the user's provider has this capability, such as `taxIds` or `creditNotes`. If not,
   * methods that need it throw Unsupported. Makes no request. `false` if the provider is no longer
   * configured.
   */
  can(capability: Capability): boolean {
    return this.#scope.can(capability)
  }

  get #record(): BilledOwner {
    return this.#scope.user.record
  }
}

/** An owner of any type, such as a user or a team, with everything billing can do for it. */
export type BillableOwner = BillableUser
