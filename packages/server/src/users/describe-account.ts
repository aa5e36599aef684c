import { formatMoney } from '@tollgate/billing'
import { formatDay } from '../dates.ts'
import {
  type OpenAmounts,
  PROVIDER_NAMES,
  type SubscriptionChoice,
  type SubscriptionFact,
} from './account-billing.ts'
import type { AccountOutcome } from './end-account.ts'

/** The effect of each choice on a subscription, for commands and pages alike. */
export const CHOICE_EFFECTS: Readonly<Record<SubscriptionChoice, string>> = {
  now: 'It ends at once. Nothing more is charged, and nothing is paid back.',
  'period-end': 'It ends when the paid period ends. Nothing more is charged.',
  keep: 'It goes on, and the card is charged again with every period.',
}

/** `“main” (plan pro, quantity 3, Stripe)`. */
export function describeSubscription({ name, plan, quantity, provider }: SubscriptionFact): string {
  const seats = quantity > 1 ? `, quantity ${quantity}` : ''
  return `“${name}” (plan ${plan}${seats}, ${PROVIDER_NAMES[provider]})`
}

/** A sentence on what becomes of a subscription from now on. */
export function describeFuture(fact: SubscriptionFact): string {
  const what = `The subscription ${describeSubscription(fact)}`
  const { state, endsAt } = fact
  if (state === 'running')
    return `${what} goes on: ${PROVIDER_NAMES[fact.provider]} charges them again.`
  const day = endsAt ? ` on ${formatDay(endsAt)}` : ''
  return state === 'ended'
    ? `${what} ended${day}. Nothing more is charged.`
    : `${what} is cancelled and ends${day}. Nothing more is charged.`
}

/** One line for each amount that is not billed or not paid. */
export function describeOpen({ usage, debts }: OpenAmounts): string[] {
  return [
    ...usage.map(({ provider, meter, reports, amount }) => {
      const count = reports === 1 ? '1 report' : `${reports} reports`
      const much = amount ? `${formatMoney(amount)} for ${meter}` : `${count} of ${meter}`
      return `usage that is not billed yet: ${much} (${PROVIDER_NAMES[provider]})`
    }),
    ...debts.map(({ provider, amount, invoice }) => {
      const bill = invoice === null ? 'a failed payment' : `invoice ${invoice}`
      return `not paid: ${formatMoney(amount)} of ${bill} (${PROVIDER_NAMES[provider]})`
    }),
  ]
}

/** Everything that was done, one sentence each. */
export function describeOutcome(outcome: AccountOutcome): string[] {
  return [
    ...outcome.subscriptions.map(describeFuture),
    ...describeOpen(outcome.voided).map((line) => `Voided: ${line}.`),
  ]
}
