import type { SubscriptionHaving } from '../../core/subscription-scope.ts'
import type { UserHaving } from '../../core/user-scope.ts'
import { awaitsFirstPayment } from '../../core/values/subscription-state.ts'
import { capability } from '../define-feature.ts'
import { isCountedByUs } from '../payments/subscription.ts'
import { findSubscription, listSubscriptions } from '../subscribe/user.ts'
import { addUsage } from '../usage/charges/upcoming-usage.ts'
import { braintreeForecasts } from './braintree.ts'
import { stripeForecasts } from './stripe.ts'
import type { UpcomingInvoice } from './upcoming-invoice.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Previews the next invoice of the named subscription, or the earliest one of all
     * subscriptions. `null` if none is coming.
     * @example
     * const next = await user.upcomingInvoice('main')
     * if (next) show(next.date, formatMoney(next.total))
     */
    upcomingInvoice(name?: string): Promise<UpcomingInvoice | null>
  }
}

declare module '../../subscription.ts' {
  interface Subscription {
    /**
     * Previews the next invoice of the subscription to the cent: its date, lines and total. `null`
     * if none is coming, because the subscription ends, is paused, or its first payment is missing.
     * Calls the provider. At Braintree, the preview includes the usage so far.
     */
    upcomingInvoice(): Promise<UpcomingInvoice | null>
  }
}

/** Previews of invoices that are still to come. */
export const forecasts = capability('forecasts', {
  user: {
    upcomingInvoice: findFirstUpcoming,
  },
  subscription: {
    upcomingInvoice: findUpcoming,
  },
  builder: ['preview'],
  stripe: stripeForecasts,
  braintree: braintreeForecasts,
})

/**
 * Previews the next invoice of the named subscription, or the earliest one of all subscriptions.
 */
export async function findFirstUpcoming(
  user: UserHaving<'forecasts'>,
  name: string | undefined,
): Promise<UpcomingInvoice | null> {
  if (name !== undefined) return (await findSubscription(user, name))?.upcomingInvoice() ?? null
  const here = (await listSubscriptions(user)).filter(({ provider }) => provider === user.provider)
  let first: UpcomingInvoice | null = null
  for (const subscription of here) {
    const upcoming = await subscription.upcomingInvoice()
    if (upcoming && (first === null || upcoming.date < first.date)) first = upcoming
  }
  return first
}

/** Previews the next invoice, with the tax that its prices include according to our rows. */
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
