/** Something that was used. */
export interface UsageEvent {
  /** Of ours: the same id counts once, however often it is sent. */
  readonly id: string
  /** The provider's name of what is counted. */
  readonly meter: string
  /** A decimal number, as text: it may have more digits than a number. */
  readonly value: string
  /** Who used it. */
  readonly customerId: string
  /** The subscription it is billed with, where the provider needs to know; otherwise null. */
  readonly subscriptionId: string | null
  /** When. */
  readonly at: Date
}

/** What came of one event. `later`: nobody knows, and it is sent again. */
export interface UsageOutcome {
  /** Of the event. */
  readonly id: string
  /** `sent` also when it was there already. */
  readonly state: 'sent' | 'refused' | 'later'
  /** Why it was refused; null when it was not. */
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
  /** From then on. */
  readonly from: Date
  /** Until then. */
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

/** Prices by what was used. */
export interface UsageReports {
  /** One outcome for each event, in their order. */
  send(events: readonly UsageEvent[]): Promise<readonly UsageOutcome[]>
  /** Oldest first. */
  summaries(filter: UsageFilter): Promise<UsageSummary[]>
  /** Takes an event back, while the provider still can. */
  cancel(id: string, meter: string): Promise<void>
  /** All that there are. */
  meters(): Promise<Meter[]>
  /** One that has this name for events already is the one. */
  createMeter(meter: Omit<Meter, 'id'>): Promise<Meter>
}
