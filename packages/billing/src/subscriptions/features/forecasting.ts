import type { UpcomingInvoice } from '../../gateways/contract/upcoming-invoice.ts'
import { addUsage } from '../../usage/charges/upcoming-usage.ts'
import { awaitsFirstPayment } from '../../values/subscription-state.ts'
import type { SubscriptionHaving } from '../subscription-scope.ts'
import { isCountedByUs } from './paying.ts'

/** With the tax that is within its price, where we keep it. */
export async function findUpcoming(
  subscription: SubscriptionHaving<'forecasts'>,
): Promise<UpcomingInvoice | null> {
  const { context, record } = subscription
  if (subscription.isEnded() || awaitsFirstPayment(record)) return null
  const terms = await context.taxes.find(record.provider, record.providerId)
  const { forecasts } = await subscription.gateway()
  const upcoming = await forecasts.upcoming(record.providerId, terms?.tax ?? 0)
  return isCountedByUs(subscription) ? addUsage(context, record, upcoming) : upcoming
}
