import { formatDay } from '../dates.ts'
import { ENGLISH, formatAmount, type PageText } from '../messages/messages.ts'
import {
  type OpenAmounts,
  PROVIDER_NAMES,
  type SubscriptionChoice,
  type SubscriptionFact,
} from './account-billing.ts'
import type { AccountOutcome } from './end-account.ts'

/**
 * Describes what a choice does to a subscription, in the language of the page or, for commands, in
 * English.
 */
export function describeChoice(choice: SubscriptionChoice, t: PageText = ENGLISH): string {
  return t(`choice.${choice}.effect`)
}

/** Describes a subscription as in `“main” (plan pro, quantity 3, Stripe)`. */
export function describeSubscription(fact: SubscriptionFact, t: PageText = ENGLISH): string {
  const { name, plan, quantity } = fact
  const provider = PROVIDER_NAMES[fact.provider]
  return quantity > 1
    ? t('held.name.quantity', { name, plan, quantity, provider })
    : t('held.name', { name, plan, provider })
}

/** Describes in one sentence whether a subscription continues, ends or has ended. */
export function describeFuture(fact: SubscriptionFact, t: PageText = ENGLISH): string {
  const { state, endsAt } = fact
  const name = describeSubscription(fact, t)
  if (state === 'running') {
    return t('held.running', { name, provider: PROVIDER_NAMES[fact.provider] })
  }
  return endsAt
    ? t(`held.${state}.on`, { name, date: formatDay(endsAt, t.locale) })
    : t(`held.${state}`, { name })
}

/** Describes each open amount in one line. */
export function describeOpen({ usage, debts }: OpenAmounts, t: PageText = ENGLISH): string[] {
  return [
    ...usage.map(({ meter, reports, amount, ...open }) => {
      const provider = PROVIDER_NAMES[open.provider]
      return amount
        ? t('open.usage', { amount: formatAmount(amount, t), meter, provider })
        : t('open.usage.reports', { reports: reports ?? 0, meter, provider })
    }),
    ...debts.map(({ invoice, ...debt }) => {
      const provider = PROVIDER_NAMES[debt.provider]
      const amount = formatAmount(debt.amount, t)
      return invoice === null
        ? t('open.debt.failed', { amount, provider })
        : t('open.debt', { amount, invoice, provider })
    }),
  ]
}

/** Describes everything that was done to an account, in one sentence each. */
export function describeOutcome(outcome: AccountOutcome, t: PageText = ENGLISH): string[] {
  return [
    ...outcome.subscriptions.map((fact) => describeFuture(fact, t)),
    ...describeOpen(outcome.voided, t).map((line) => t('open.voided', { line })),
  ]
}
