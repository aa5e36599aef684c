import type { InvoiceData } from '../../../../invoices/invoice.ts'
import type { MeteredPrice } from '../../../../values/metered-price.ts'
import type { Money } from '../../../../values/money.ts'
import type { ProviderSubscription } from '../../subscription.ts'

/** Something that was used. */
export interface UsageEvent {
  /** Of ours: the same id of a customer counts once, however often it is sent within 24 hours. */
  readonly id: string
  /** The provider's name of what is counted. */
  readonly meter: string
  /** A decimal number, as text: it may have more digits than a number. */
  readonly value: string
  /** Who used it. */
  readonly customerId: string
  /** The provider's id of the subscription that it was reported for; null where none was named. */
  readonly subscriptionId: string | null
  /** When. */
  readonly at: Date
}

/** Which event it was. */
export type SentEvent = Pick<UsageEvent, 'id' | 'meter' | 'customerId'>

/**
 * What came of one event. `sent`: the provider has it, also when it had it before. `refused`: it never will.
 * `later`: it surely does not have it, and is asked again. `unknown`: nobody knows, and it is asked again while it can
 * tell a repeat from another event. Where an SDK repeats calls by itself, an answer is only that of the last one.
 */
export interface UsageOutcome {
  /** Of the event. */
  readonly id: string
  /** What came of it. */
  readonly state: 'sent' | 'refused' | 'later' | 'unknown'
  /** Why it was not taken; null when it was. */
  readonly error: string | null
}

/** What was used in a while. */
export interface UsageSummary {
  /** Its beginning. */
  readonly from: Date
  /** Its end, which does not belong to it. */
  readonly to: Date
  /** A decimal number, as text. */
  readonly value: string
}

/** Which sums are wanted. */
export interface UsageFilter {
  /** The provider's name of what is counted. */
  readonly meter: string
  /** Who used it. */
  readonly customerId: string
  /** From then on: the whole minute, or the hour or day that it is in where there is a sum for each. */
  readonly from: Date
  /** Until then, to the end of that minute, hour or day. */
  readonly to: Date
  /** A sum for each; null for one sum. */
  readonly by: 'day' | 'hour' | null
}

/** What the provider counts. */
export interface Meter {
  /** The provider's id. */
  readonly id: string
  /** What people read. */
  readonly name: string
  /** What events call it. */
  readonly eventName: string
  /** How events make a sum. */
  readonly aggregation: 'sum' | 'count' | 'last'
}

/** A report that the provider took, and dropped later. */
export interface DroppedReport {
  /** Of the event, as it was sent. */
  readonly id: string
  /** Why. */
  readonly error: string
  /** Whether it was sent for this customer: two applications may share an account. */
  isOf(customerId: string): boolean
}

/** What the provider tells of reports that it took, and dropped later. */
export interface DroppedUsage {
  /** Some of them. */
  readonly named: readonly DroppedReport[]
  /** How many there are in all. */
  readonly count: number
  /** What it says of them. */
  readonly summary: string
}

/** Usage that the provider counts and bills. */
export interface UsageReports {
  /** Who adds up what was used. */
  readonly countedBy: 'provider'
  /** One outcome for each event, in their order. */
  send(events: readonly UsageEvent[]): Promise<readonly UsageOutcome[]>
  /** Oldest first. */
  summaries(filter: UsageFilter): Promise<UsageSummary[]>
  /** Takes an event back, while the provider still can; nothing happens when it was taken back before. */
  cancel(event: SentEvent): Promise<void>
  /** What one of the provider's `usageEvents` tells, read again by its id. */
  readDropped?(event: unknown): Promise<DroppedUsage>
  /** What usage of a price is reported as; null for a price that is not billed by usage. */
  meterOf(price: string): Promise<string | null>
  /** All that there are. */
  meters(): Promise<Meter[]>
  /** One that has this name for events already is the one. */
  createMeter(meter: Omit<Meter, 'id'>): Promise<Meter>
}

/** What was used in a period, and is charged once for its key. */
export interface UsageCharge {
  /** Who pays. */
  readonly customerId: string
  /** The provider's id of the subscription that it was used with. */
  readonly subscription: string
  /** Of ours: the same key is charged once, however often it is asked for. */
  readonly key: string
  /** With the tax inside. */
  readonly amount: Money
  /** What people read. */
  readonly description: string
}

/** Usage that we count, and charge when its period is over, because the provider counts none. */
export interface UsageCharges {
  /** Who adds up what was used. */
  readonly countedBy: 'us'
  /** Of what it is charged in, in lower case. */
  readonly currency: string
  /** What usage under this name costs; null where the options name none. */
  priceOf(name: string): MeteredPrice | null
  /** When the periods of a subscription began, oldest first: the last one runs. */
  periodsOf(subscription: ProviderSubscription): readonly Date[]
  /** Throws PaymentFailed when it is declined. A repeat finds what was charged. */
  charge(charge: UsageCharge): Promise<InvoiceData>
  /** What an invoice was charged under; null for one that is not of usage. */
  keyOf(invoice: InvoiceData): string | null
}

export function isChargedByUs(usage: UsageReports | UsageCharges): usage is UsageCharges {
  return usage.countedBy === 'us'
}
