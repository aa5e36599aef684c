import type { MeteredPrice } from '../../core/values/metered-price.ts'
import type { Money } from '../../core/values/money.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import type { InvoiceData } from '../invoices/invoice.ts'

/** A report of usage. */
export interface UsageEvent {
  /** Our id: the same id of a customer counts once within 24 hours, however often it is sent. */
  readonly id: string
  /** The provider's event name of the meter. */
  readonly meter: string
  /** A decimal number as text, because it may have more digits than a JavaScript number. */
  readonly value: string
  /** The provider's id of the customer. */
  readonly customerId: string
  /** The provider's id of the subscription that the report names. `null` if it names none. */
  readonly subscriptionId: string | null
  /** When the usage occurred. */
  readonly at: Date
}

/** Identifies an event that was sent. */
export type SentEvent = Pick<UsageEvent, 'id' | 'meter' | 'customerId'>

/**
 * The result of sending one event.
 * - `sent`: the provider has it, perhaps from an earlier attempt.
 * - `refused`: the provider will never accept it.
 * - `later`: the provider does not have it; it is sent again.
 * - `unknown`: the provider may have it; it is sent again as long as the provider recognizes a
 * repeat.
 *
 * If the SDK retries by itself, the result describes only the last attempt.
 */
export interface UsageOutcome {
  /** Id of the event. */
  readonly id: string
  /** Whether the provider accepted the event. */
  readonly state: 'sent' | 'refused' | 'later' | 'unknown'
  /** The reason why it was not accepted. `null` if it was. */
  readonly error: string | null
}

/** Usage in a range of time. */
export interface UsageSummary {
  /** Start of the range. */
  readonly from: Date
  /** End of the range, exclusive. */
  readonly to: Date
  /** Quantity, a decimal number as text. */
  readonly value: string
}

/** Selects the sums of usage to read. */
export interface UsageFilter {
  /** The provider's event name of the meter. */
  readonly meter: string
  /** The provider's id of the customer. */
  readonly customerId: string
  /** Start, rounded down to a whole minute, or to the hour or day according to `by`. */
  readonly from: Date
  /** End, rounded up to a whole minute, or to the hour or day according to `by`. */
  readonly to: Date
  /** Returns a sum for each day or hour. `null` for a single sum. */
  readonly by: 'day' | 'hour' | null
}

/** A meter, which counts usage at the provider. */
export interface Meter {
  /** The provider's id of the meter. */
  readonly id: string
  /** Display name. */
  readonly name: string
  /** Event name, by which reports refer to the meter. */
  readonly eventName: string
  /** How the values of a period are combined: added up, counted, or the last one. */
  readonly aggregation: 'sum' | 'count' | 'last'
}

/** A report that the provider accepted and dropped later. */
export interface DroppedReport {
  /** Id of the event, as it was sent. */
  readonly id: string
  /** The reason. */
  readonly error: string
  /**
   * Whether the report was sent for this customer, because two applications may share an account.
   */
  isOf(customerId: string): boolean
}

/** An event of the provider about reports that it accepted and dropped later. */
export interface DroppedUsage {
  /** Some of the dropped reports. */
  readonly named: readonly DroppedReport[]
  /** Number of all dropped reports. */
  readonly count: number
  /** Description by the provider. */
  readonly summary: string
}

/** Usage that the provider counts and bills. */
export interface UsageReports {
  /** States that the provider counts the usage. */
  readonly countedBy: 'provider'
  /** Sends events, and returns one outcome for each, in the same order. */
  send(events: readonly UsageEvent[]): Promise<readonly UsageOutcome[]>
  /** Reads sums of usage, oldest first. */
  summaries(filter: UsageFilter): Promise<UsageSummary[]>
  /** Cancels an event, as long as the provider can. Does nothing if it was cancelled before. */
  cancel(event: SentEvent): Promise<void>
  /** Reads what one of the provider's `usageEvents` is about, by its id. */
  readDropped?(event: unknown): Promise<DroppedUsage>
  /** Returns the event name of the meter of a price. `null` if the price is not billed by usage. */
  meterOf(price: string): Promise<string | null>
  /** Lists all meters. */
  meters(): Promise<Meter[]>
  /**
   * Creates a meter, or returns the existing one with this event name.
   * @throws {InvalidArgument} if the existing one combines values differently.
   */
  createMeter(meter: Omit<Meter, 'id'>): Promise<Meter>
}

/** A charge for the usage of a period, made once for its key. */
export interface UsageCharge {
  /** The provider's id of the customer. */
  readonly customerId: string
  /** The provider's id of the subscription. */
  readonly subscription: string
  /** Our idempotency key: charges with the same key are made once. */
  readonly key: string
  /** The amount, including tax. */
  readonly amount: Money
  /** Description for the customer. */
  readonly description: string
}

/**
 * Usage that we count, and charge at the end of its period, because the provider cannot count it.
 */
export interface UsageCharges {
  /** States that billing counts the usage. */
  readonly countedBy: 'us'
  /** Currency of the charges, in lower case. */
  readonly currency: string
  /** Returns the price of a meter. `null` if the options do not define it. */
  priceOf(name: string): MeteredPrice | null
  /**
   * Returns the starts of the subscription's periods, oldest first. The last one is the current
   * period.
   */
  periodsOf(subscription: ProviderSubscription): readonly Date[]
  /**
   * Charges for usage. A repeated call returns the existing charge.
   * @throws {PaymentFailed} if the card is declined.
   */
  charge(charge: UsageCharge): Promise<InvoiceData>
  /** Reads the idempotency key of the charge behind an invoice. `null` if it is not for usage. */
  keyOf(invoice: InvoiceData): string | null
}

export function isChargedByUs(usage: UsageReports | UsageCharges): usage is UsageCharges {
  return usage.countedBy === 'us'
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Usage: counted by the provider, or counted by us and charged there. */
    readonly usage: UsageReports | UsageCharges
    /**
     * Support for the provider's prices that are billed by usage. Their quantity in a subscription
     * is `null`.
     */
    readonly meteredPrices: true
  }
}
