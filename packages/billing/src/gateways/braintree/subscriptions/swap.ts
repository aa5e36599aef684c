import type braintree from 'braintree'
import { InvalidArgument, SubscriptionEnded } from '../../../errors.ts'
import { money, toDecimal } from '../../../values/money.ts'
import type { Gateway } from '../../contract/gateway.ts'
import type { ItemsChange, SubscriptionItems } from '../../contract/parts/subscriptions/items.ts'
import type { Replacements } from '../../contract/parts/subscriptions/replacements.ts'
import type { Swap } from '../../contract/swap.ts'
import { requireMethod } from '../payments/customers.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { dayOf } from '../sdk/days.ts'
import { requireSuccess } from '../sdk/errors.ts'
import { idOfSubscription } from '../sdk/ids.ts'
import { type AddOns, readAddOns } from './add-ons.ts'
import { worthOfCoupons } from './coupons.ts'
import { inTrial, isOver } from './describe.ts'
import { readUnpaid } from './paid/period-money.ts'
import { debtOf } from './plan-credit.ts'
import {
  type PlannedChange,
  planItems,
  planReplacement,
  planSwap,
  type SwapTarget,
} from './planned-swap.ts'
import { requirePlan } from './plans.ts'
import { forecast } from './preview.ts'
import { createOnce } from './subscriptions.ts'

type Swaps = Pick<Gateway, 'swap' | 'previewSwap'> & {
  readonly replacements: Replacements
  readonly items: SubscriptionItems
}

/** A swap is planned in one place, from what Braintree has; then it is sent, or forecast. */
export function braintreeSwaps(context: BraintreeContext): Swaps {
  const { gateway } = context

  async function readTarget(
    current: braintree.Subscription,
    wanted: Swap,
    now: Date,
  ): Promise<SwapTarget> {
    const next = await requirePlan(context, wanted.plan)
    const old = current.planId === next.id ? next : await requirePlan(context, current.planId)
    const worth = await worthOfCoupons(context, current)
    const hasAddOns = (wanted.items?.length ?? 0) > 1 || (current.addOns?.length ?? 0) > 0
    const addOns: AddOns = hasAddOns ? await readAddOns(context) : new Map()
    const mayCredit = wanted.prorate && !isOver(current) && !inTrial(current)
    const paid = mayCredit ? await readUnpaid(context, current, dayOf(now)) : null
    return { current, old, plan: next, wanted, worth, addOns, paid, now }
  }

  async function plan(id: string, wanted: Swap, now: Date) {
    const target = await readTarget(await gateway.subscription.find(id), wanted, now)
    return { target, planned: planSwap(context, target) }
  }

  async function planOfItems(id: string, change: ItemsChange, now: Date) {
    const current = await gateway.subscription.find(id)
    if (isOver(current)) {
      throw new SubscriptionEnded('Braintree changes nothing of a subscription that is cancelled')
    }
    const { wanted: items, ...terms } = change
    const [main] = items
    if (main?.price !== current.planId) throw new Error('The main price is changed by a swap')
    const swap: Swap = { ...terms, items, plan: current.planId, skipTrial: false }
    const target = await readTarget(current, swap, now)
    return { target, planned: planItems(context, target) }
  }

  /** What is owed is collected first: afterwards Braintree would ask for it at the new price. */
  async function carryOut({ current }: SwapTarget, planned: PlannedChange): Promise<void> {
    if (planned.isThere) return
    await collectDebt(context, current)
    requireSuccess(await gateway.subscription.update(current.id, planned.request))
  }

  return {
    async swap(id, wanted, now) {
      const { target, planned } = await plan(id, wanted, now)
      if (planned.kind === 'replacement') throw new Error('This swap needs a new subscription')
      await carryOut(target, planned)
    },

    async previewSwap(id, wanted, now) {
      const { target, planned } = await plan(id, wanted, now)
      return forecast(context, target, planned)
    },

    items: {
      async change(id, wanted, now) {
        requireToday(wanted, now)
        const { target, planned } = await planOfItems(id, wanted, now)
        await carryOut(target, planned)
      },

      async preview(id, wanted, now) {
        const { target, planned } = await planOfItems(id, wanted, now)
        return forecast(context, target, planned)
      },
    },

    replacements: {
      async isNeeded(id, wanted, now) {
        requireToday(wanted, now)
        const { planned } = await plan(id, wanted, now)
        return planned.kind === 'replacement'
      },

      async create(id, wanted, { operation, name, customerId, now }) {
        const { target } = await plan(id, wanted, now)
        const planned = planReplacement(context, target)
        await collectDebt(context, target.current)
        const { current } = target
        return createOnce(context, {
          ...planned.request,
          id: idOfSubscription(operation, name),
          // One that is over was left out when the card was changed.
          paymentMethodToken: isOver(current)
            ? await requireMethod(context, customerId)
            : current.paymentMethodToken,
        })
      },
    },
  }
}

/** What is past due is paid before anything else; if that is declined, nothing is changed. */
async function collectDebt(
  { gateway, currency }: BraintreeContext,
  subscription: braintree.Subscription,
): Promise<void> {
  const debt = debtOf(subscription, currency)
  if (debt === 0) return
  const amount = toDecimal(money(debt, currency))
  requireSuccess(await gateway.subscription.retryCharge(subscription.id, amount, true))
}

/** Braintree counts by its own day: a preview of another one showed other cents. */
function requireToday({ prorationDate }: Pick<Swap, 'prorationDate'>, now: Date): void {
  if (prorationDate === null || dayOf(prorationDate) === dayOf(now)) return
  throw new InvalidArgument(
    `The preview is of ${dayOf(prorationDate)}, and Braintree would charge by ${dayOf(now)}: ask for another one`,
  )
}
