import type { ProviderName } from '../provider-name.ts'
import type { CardSummary } from '../values/card.ts'
import type { Standing, SubscriptionColumns } from '../values/subscription-state.ts'

/** Instants are milliseconds since 1970 UTC on every database. */
export interface SubscriptionRow {
  id: number
  user_id: string | number
  name: string
  provider: string
  provider_id: string
  provider_plan: string
  provider_status: string
  quantity: number
  trial_ends_at: number | null
  ends_at: number | null
  created_at: number
  updated_at: number
}

export interface SubscriptionRecord extends SubscriptionColumns {
  readonly id: number
  readonly userId: string | number
  readonly name: string
  readonly provider: ProviderName
  readonly providerId: string
  readonly providerPlan: string
  /** The provider's own word: `active`, `incomplete`, `Past Due`. */
  readonly providerStatus: string
  readonly quantity: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** What there is to write: what a status means is the provider's to say, not the row's. */
export type NewSubscriptionRecord = Omit<SubscriptionRecord, 'id' | 'standing'>

export const subscriptionRow = {
  toRow(record: NewSubscriptionRecord): Omit<SubscriptionRow, 'id'> {
    return {
      user_id: record.userId,
      name: record.name,
      provider: record.provider,
      provider_id: record.providerId,
      provider_plan: record.providerPlan,
      provider_status: record.providerStatus,
      quantity: record.quantity,
      trial_ends_at: toInstant(record.trialEndsAt),
      ends_at: toInstant(record.endsAt),
      created_at: record.createdAt.getTime(),
      updated_at: record.updatedAt.getTime(),
    }
  },
  fromRow(row: SubscriptionRow, standing: Standing): SubscriptionRecord {
    return {
      id: Number(row.id),
      userId: row.user_id,
      name: row.name,
      provider: row.provider as ProviderName,
      providerId: row.provider_id,
      providerPlan: row.provider_plan,
      providerStatus: row.provider_status,
      standing,
      quantity: Number(row.quantity),
      trialEndsAt: toDate(row.trial_ends_at),
      endsAt: toDate(row.ends_at),
      createdAt: new Date(Number(row.created_at)),
      updatedAt: new Date(Number(row.updated_at)),
    }
  },
}

/** The columns billing adds to the application's own user table. */
export interface BillingColumns {
  provider: string | null
  provider_id: string | null
  card_brand: string | null
  card_last_four: string | null
  paypal_email: string | null
  trial_ends_at: number | null
}

/** The application's user, and what billing knows of it. */
export interface BilledUser<User = Record<string, unknown>> extends CardSummary {
  readonly id: string | number
  readonly provider: ProviderName | null
  /** The customer's id at the provider. */
  readonly providerId: string | null
  readonly trialEndsAt: Date | null
  /** The whole row, as the application stores it. */
  readonly attributes: User
}

export const userRow = {
  fromRow(row: Record<string, unknown> & BillingColumns, idColumn: string): BilledUser {
    return {
      id: row[idColumn] as string | number,
      provider: row.provider as ProviderName | null,
      providerId: row.provider_id,
      cardBrand: row.card_brand,
      cardLastFour: row.card_last_four,
      paypalEmail: row.paypal_email,
      trialEndsAt: toDate(row.trial_ends_at),
      attributes: row,
    }
  },
  toCard(
    card: CardSummary,
  ): Pick<BillingColumns, 'card_brand' | 'card_last_four' | 'paypal_email'> {
    return {
      card_brand: card.cardBrand,
      card_last_four: card.cardLastFour,
      paypal_email: card.paypalEmail,
    }
  },
}

/** `pending` waits for its next attempt, `done` was handled, `dead` failed every time. */
export type WebhookState = 'pending' | 'done' | 'dead'

export interface WebhookRow {
  id: number
  provider: string
  event_id: string
  type: string
  payload: string
  state: string
  attempts: number
  due_at: number
  last_error: string | null
  received_at: number
  finished_at: number | null
}

/** An event as it lies in the inbox. */
export interface StoredWebhook {
  /** Counts upwards. */
  readonly id: number
  /** Who sent it. */
  readonly provider: ProviderName
  /** The provider's id; a repeat has the same one and is not stored again. */
  readonly eventId: string
  /** In the provider's words, such as `invoice.paid`. */
  readonly type: string
  /** As it was verified. */
  readonly payload: string
  /** What became of it. */
  readonly state: WebhookState
  /** How often it was tried. */
  readonly attempts: number
  /** When it is tried next. */
  readonly dueAt: Date
  /** Why the last attempt failed; null when none has. */
  readonly lastError: string | null
  /** When it arrived. */
  readonly receivedAt: Date
  /** When it was done with; null while it waits. */
  readonly finishedAt: Date | null
}

export const webhookRow = {
  fromRow(row: WebhookRow): StoredWebhook {
    return {
      id: Number(row.id),
      provider: row.provider as ProviderName,
      eventId: row.event_id,
      type: row.type,
      payload: row.payload,
      state: row.state as WebhookState,
      attempts: Number(row.attempts),
      dueAt: new Date(Number(row.due_at)),
      lastError: row.last_error,
      receivedAt: new Date(Number(row.received_at)),
      finishedAt: toDate(row.finished_at),
    }
  },
}

export function toInstant(date: Date | null): number | null {
  return date === null ? null : date.getTime()
}

export function toDate(instant: number | null): Date | null {
  return instant === null ? null : new Date(Number(instant))
}
