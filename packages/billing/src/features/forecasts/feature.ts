import type { SubscriptionScopeWith } from '../../core/subscription-scope.ts'
import type { UserScopeWith } from '../../core/user-scope.ts'
import { awaitsFirstPayment } from '../../core/values/subscription-state.ts'
import { defineCapability } from '../define-feature.ts'
import { isUsageCountedByUs } from '../payments/subscription.ts'
import { findSubscription, listSubscriptions } from '../subscribe/user.ts'
import { addUsageToUpcomingInvoice } from '../usage/charges/upcoming-usage.ts'
import { createBraintreeForecasts } from './braintree.ts'
import { createStripeForecasts } from './stripe.ts'
import type { UpcomingInvoice } from './upcoming-invoice.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Previews the next invoice of the subscription with this name. Without a name, returns the
     * earliest next invoice of all the user's subscriptions. `null` if none is coming.
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
export const invoiceForecastsCapability = defineCapability('forecasts', {
  user: {
    upcomingInvoice: findFirstUpcomingInvoice,
  },
  subscription: {
    upcomingInvoice: findUpcomingInvoice,
  },
  builder: ['preview'],
  stripe: createStripeForecasts,
  braintree: createBraintreeForecasts,
})

/**
 * Previews the next invoice of the subscription with this name. Without a name, returns the
 * earliest next invoice of all the user's subscriptions.
 */
export async function findFirstUpcomingInvoice(
  user: UserScopeWith<'forecasts'>,
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

/**
 * Previews the next invoice of a subscription. The tax included in its prices is read from our
 * database.
 */
export async function findUpcomingInvoice(
  subscription: SubscriptionScopeWith<'forecasts'>,
): Promise<UpcomingInvoice | null> {
  const { context, record } = subscription
  if (subscription.isEnded() || awaitsFirstPayment(record)) return null
  const terms = await context.taxes.find(record.provider, record.providerId)
  const { forecasts } = await subscription.gateway()
  const upcoming = await forecasts.upcoming(record.providerId, terms?.tax ?? 0)
  return isUsageCountedByUs(subscription)
    ? addUsageToUpcomingInvoice(context, record, upcoming)
    : upcoming
}
