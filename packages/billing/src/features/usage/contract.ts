import type { MeteredPrice } from '../../core/values/metered-price.ts'
import type { Money } from '../../core/values/money.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import type { InvoiceData } from '../invoices/invoice.ts'

/** A report of usage that is sent to the provider. */
export interface UsageEvent {
  /**
   * Our id of the report. The provider counts a customer's reports with the same id only once
   * within 24 hours.
   */
  readonly id: string
  /** The provider's event name of the meter. */
  readonly meter: string
  /** Quantity as decimal text, because it may have more digits than a JavaScript number. */
  readonly value: string
  /** The provider's id of the customer. */
  readonly customerId: string
  /**
   * The provider's id of the subscription for which the usage was reported. `null` if it was
   * reported for the customer only.
   */
  readonly subscriptionId: string | null
  /** When the usage occurred. */
  readonly at: Date
}

/** The fields that identify a usage report that was sent to the provider. */
export type SentUsageEvent = Pick<UsageEvent, 'id' | 'meter' | 'customerId'>

/**
 * The result of sending one usage report.
 * - `sent`: the provider has the report, perhaps from an earlier attempt.
 * - `refused`: the provider will never accept it.
 * - `later`: the provider does not have it, and it is sent again.
 * - `unknown`: the provider may have it. It is sent again as long as the provider recognizes a
 * repeated report.
 *
 * If the provider's SDK retries by itself, the result describes only the last attempt.
 */
export interface UsageOutcome {
  /** Id of the usage report. */
  readonly id: string
  /** Whether the provider accepted the report: see `UsageOutcome`. */
  readonly state: 'sent' | 'refused' | 'later' | 'unknown'
  /** The reason why the provider did not accept the report. `null` if the provider accepted it. */
  readonly error: string | null
}

/** The sum of usage in a range of time. */
export interface UsageSummary {
  /** Start of the time range. */
  readonly from: Date
  /** End of the time range, exclusive. */
  readonly to: Date
  /** Quantity of usage, as decimal text. */
  readonly value: string
}

/** Selects the sums of usage to read. */
export interface UsageFilter {
  /** The provider's event name of the meter. */
  readonly meter: string
  /** The provider's id of the customer. */
  readonly customerId: string
  /**
   * Start of the time range. Rounded down to a whole minute or, depending on `by`, to the hour or
   * day.
   */
  readonly from: Date
  /**
   * End of the time range. Rounded up to a whole minute or, depending on `by`, to the hour or day.
   */
  readonly to: Date
  /** Whether to return a sum for each day or for each hour. `null` for a single sum. */
  readonly by: 'day' | 'hour' | null
}

/** A meter at the provider, which counts usage such as API calls. */
export interface UsageMeter {
  /** The provider's id of the meter. */
  readonly id: string
  /** Display name of the meter. */
  readonly name: string
  /** Event name of the meter, such as `api_calls`. Usage reports refer to the meter by it. */
  readonly eventName: string
  /**
   * How the reported values of a period are combined: their sum, their number, or the last value.
   */
  readonly aggregation: 'sum' | 'count' | 'last'
}

/** A usage report that the provider accepted at first and dropped later. */
export interface DroppedReport {
  /** Our id of the dropped report. */
  readonly id: string
  /** The reason why the report was dropped. */
  readonly error: string
  /**
   * Whether the report was sent for this customer. Needed because two applications that share a
   * provider account may use the same report ids.
   */
  isOf(customerId: string): boolean
}

/**
 * The content of a provider event about usage reports that the provider accepted at first and
 * dropped later.
 */
export interface DroppedUsage {
  /** The dropped reports that the event names, which may be only some of them. */
  readonly named: readonly DroppedReport[]
  /** Number of all dropped reports, including those that the event does not name. */
  readonly count: number
  /** The provider's description of the problem. */
  readonly summary: string
}

/** Gateway interface for usage at providers that count and bill usage themselves. */
export interface UsageReports {
  /** `provider`: the provider itself counts the usage. */
  readonly countedBy: 'provider'
  /** Sends usage reports, and returns one outcome for each, in the same order. */
  send(events: readonly UsageEvent[]): Promise<readonly UsageOutcome[]>
  /** Reads sums of usage from the provider, oldest first. */
  summaries(filter: UsageFilter): Promise<UsageSummary[]>
  /**
   * Cancels a usage report, if the provider still allows that. Does nothing if the report was
   * cancelled before.
   */
  cancel(event: SentUsageEvent): Promise<void>
  /**
   * Reads the content of a provider event about dropped usage reports (one of the provider's
   * `usageEvents`), by the event's id.
   */
  readDropped?(event: unknown): Promise<DroppedUsage>
  /**
   * Returns the event name of the meter by which a price is billed. `null` if the price is not
   * billed by usage.
   */
  meterOf(price: string): Promise<string | null>
  /** Lists all meters of the provider account. */
  meters(): Promise<UsageMeter[]>
  /**
   * Creates a meter, or returns the existing one with this event name.
   * @throws {InvalidArgument} if the existing meter combines values differently.
   */
  createMeter(meter: Omit<UsageMeter, 'id'>): Promise<UsageMeter>
}

/** A charge to make for the usage of a billing period. */
export interface UsageCharge {
  /** The provider's id of the customer. */
  readonly customerId: string
  /** The provider's id of the subscription. */
  readonly subscription: string
  /** Our idempotency key: charges with the same key are made once. */
  readonly key: string
  /** The amount to charge, including tax. */
  readonly amount: Money
  /** Description of the charge for the customer. */
  readonly description: string
}

/**
 * Gateway interface for usage at providers that cannot count usage: billing counts the usage, and
 * charges it at the end of each billing period.
 */
export interface UsageCharges {
  /** `us`: billing itself counts the usage. */
  readonly countedBy: 'us'
  /** ISO 4217 currency code of the charges, in lower case. */
  readonly currency: string
  /** Returns the price of a meter from the options. `null` if they define none. */
  priceOf(name: string): MeteredPrice | null
  /**
   * Returns the start dates of the subscription's billing periods, oldest first. The last one is
   * the start of the current period.
   */
  periodsOf(subscription: ProviderSubscription): readonly Date[]
  /**
   * Charges for usage. A repeated call with the same key returns the existing charge.
   * @throws {PaymentFailed} if the card is declined.
   */
  charge(charge: UsageCharge): Promise<InvoiceData>
  /**
   * Reads the idempotency key of the usage charge behind an invoice. `null` if the invoice is not
   * for usage.
   */
  keyOf(invoice: InvoiceData): string | null
}

export function isChargedByUs(usage: UsageReports | UsageCharges): usage is UsageCharges {
  return usage.countedBy === 'us'
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /**
     * Gateway interface for usage, which either the provider counts, or billing counts and charges
     * through the provider.
     */
    readonly usage: UsageReports | UsageCharges
    /**
     * Support for the provider's prices that are billed by usage. Their quantity in a subscription
     * is `null`.
     */
    readonly meteredPrices: true
  }
}
