import type { BraintreeContext } from './context.ts'
import { notifySubscription } from './notifications.ts'
import type { SubscriptionRow, SubscriptionStatus } from './rows/subscriptions.ts'

export function isCanceledOrExpired(row: SubscriptionRow): boolean {
  return row.status === 'Canceled' || row.status === 'Expired'
}

export function cancelSubscriptionRow(
  context: BraintreeContext,
  row: SubscriptionRow,
  source: 'api' | 'recurring',
): void {
  row.retryOn = null
  setSubscriptionStatus(context, row, 'Canceled', source)
  notifySubscription(context, 'subscription_canceled', row)
}

export function setSubscriptionStatus(
  context: BraintreeContext,
  row: SubscriptionRow,
  status: SubscriptionStatus,
  source: 'api' | 'recurring',
): void {
  row.status = status
  const { balance, price, planId } = row
  const timestamp = context.clock.nowMs()
  row.statusHistory.push({ timestamp, status, balance, price, planId, source })
  saveSubscription(context, row)
}

export function saveSubscription(context: BraintreeContext, row: SubscriptionRow): void {
  row.updatedAt = context.clock.nowMs()
  context.tables.subscriptions.set(row.id, row)
}
