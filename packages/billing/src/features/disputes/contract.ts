import type { DisputeStatus } from '../../core/values/dispute-status.ts'
import type { Money } from '../../core/values/money.ts'

/**
 * A dispute (chargeback): the customer asked their bank to return a charge. In the same form for
 * every provider.
 */
export interface ProviderDispute {
  /** The provider's id of the dispute. */
  readonly id: string
  /** The provider's id of the charged customer. `null` if the provider does not say. */
  readonly customerId: string | null
  /** The provider's id of the subscription that the charge paid for. `null` for a single charge. */
  readonly subscriptionId: string | null
  /** The provider's id of the charge. */
  readonly charge: string
  /** The provider's id of the invoice that the charge paid. `null` or missing if there is none. */
  readonly invoiceId?: string | null
  /** The disputed amount. */
  readonly amount: Money
  /** The provider's code for the reason of the dispute. `null` if the provider gives no reason. */
  readonly reason: string | null
  /** Status of the dispute. */
  readonly status: DisputeStatus
  /** When the dispute was opened. */
  readonly openedAt: Date
  /** The object as the provider's SDK returned it. */
  readonly raw: unknown
}

/** Gateway interface to disputes (chargebacks) of charges. */
export interface PaymentDisputes {
  /** Finds a dispute. `null` if there is none. */
  find(id: string): Promise<ProviderDispute | null>
  /** Lists all disputes of a customer, decided or not. */
  list(customerId: string): Promise<ProviderDispute[]>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Gateway interface to disputes (chargebacks) of charges. */
    readonly disputes: PaymentDisputes
  }

  interface ReadOnlyMethods {
    readonly disputes: keyof PaymentDisputes
  }
}
