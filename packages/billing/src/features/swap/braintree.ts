import type braintree from 'braintree'
import { InvalidArgument, SubscriptionEnded } from '../../core/errors/errors.ts'
import { money, toDecimal } from '../../core/values/money.ts'
import { type AddOns, readAddOns } from '../../providers/braintree/add-ons.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { toCalendarDay } from '../../providers/braintree/days.ts'
import {
  hasBraintreeSubscriptionEnded,
  isInTrial,
} from '../../providers/braintree/describe-subscription.ts'
import { requireSuccess } from '../../providers/braintree/errors.ts'
import { encodeSubscriptionId } from '../../providers/braintree/ids.ts'
import { getSubscriptionDebt } from '../../providers/braintree/plan-credit.ts'
import { requirePlan } from '../../providers/braintree/plans.ts'
import type { Gateway } from '../../providers/gateway.ts'
import { requireDefaultMethod } from '../customers/braintree.ts'
import type { ItemsChange, SubscriptionItems } from '../items/contract.ts'
import { readCouponValues } from '../promotion-codes/braintree-coupons.ts'
import { readReturnedPeriodMoney } from '../proration/braintree-period-money.ts'
import { createSubscriptionOnce } from '../subscribe/braintree.ts'
import {
  type BraintreeChangeRequest,
  buildItemsRequest,
  buildReplacementRequest,
  buildSwapRequest,
  type SwapTarget,
} from './braintree-planned-swap.ts'
import { forecastSwap } from './braintree-preview.ts'
import type { SwapRequest } from './contract.ts'
import type { SubscriptionReplacements } from './replacements-contract.ts'

type Swaps = Pick<Gateway, 'swap' | 'previewSwap'> & {
  readonly replacements: SubscriptionReplacements
  readonly items: SubscriptionItems
}

/**
 * Implements swaps for Braintree. `swap()` and its preview build the same request from the
 * subscription's state at Braintree: the swap sends it, the preview only calculates its cost.
 */
export function createBraintreeSwaps(context: BraintreeContext): Swaps {
  const { gateway } = context

  async function readTarget(
    current: braintree.Subscription,
    wanted: SwapRequest,
    now: Date,
  ): Promise<SwapTarget> {
    const next = await requirePlan(context, wanted.price)
    const old = current.planId === next.id ? next : await requirePlan(context, current.planId)
    const worth = await readCouponValues(context, current)
    const hasAddOns = (wanted.items?.length ?? 0) > 1 || (current.addOns?.length ?? 0) > 0
    const addOns: AddOns = hasAddOns ? await readAddOns(context) : new Map()
    const mayCredit =
      wanted.prorate && !hasBraintreeSubscriptionEnded(current) && !isInTrial(current)
    const paid = mayCredit
      ? await readReturnedPeriodMoney(context, current, toCalendarDay(now))
      : null
    return { current, old, plan: next, wanted, worth, addOns, paid, now }
  }

  async function plan(id: string, wanted: SwapRequest, now: Date) {
    const target = await readTarget(await gateway.subscription.find(id), wanted, now)
    return { target, planned: buildSwapRequest(context, target) }
  }

  async function planOfItems(id: string, change: ItemsChange, now: Date) {
    const current = await gateway.subscription.find(id)
    if (hasBraintreeSubscriptionEnded(current)) {
      throw new SubscriptionEnded('Braintree cannot change a subscription that has ended')
    }
    const { wanted: items, ...terms } = change
    const [main] = items
    if (main?.price !== current.planId)
      throw new Error('The main price can only be changed with swap()')
    const swap: SwapRequest = { ...terms, items, price: current.planId, skipTrial: false }
    const target = await readTarget(current, swap, now)
    return { target, planned: buildItemsRequest(context, target) }
  }

  /**
   * Collects the past-due amount before the change, because afterwards Braintree would charge it at
   * the new price.
   */
  async function carryOut({ current }: SwapTarget, planned: BraintreeChangeRequest): Promise<void> {
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
      return forecastSwap(context, target, planned)
    },

    items: {
      async change(id, wanted, now) {
        requireToday(wanted, now)
        const { target, planned } = await planOfItems(id, wanted, now)
        await carryOut(target, planned)
      },

      async preview(id, wanted, now) {
        const { target, planned } = await planOfItems(id, wanted, now)
        return forecastSwap(context, target, planned)
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
        const planned = buildReplacementRequest(context, target)
        await collectDebt(context, target.current)
        const { current } = target
        return createSubscriptionOnce(context, {
          ...planned.request,
          id: encodeSubscriptionId(operation, name),
          // updateCard() does not change subscriptions that have ended.
          paymentMethodToken: hasBraintreeSubscriptionEnded(current)
            ? await requireDefaultMethod(context, customerId)
            : current.paymentMethodToken,
        })
      },
    },
  }
}

/** Pays the past-due amount before anything else. If that is declined, nothing is changed. */
async function collectDebt(
  { gateway, currency }: BraintreeContext,
  subscription: braintree.Subscription,
): Promise<void> {
  const debt = getSubscriptionDebt(subscription, currency)
  if (debt === 0) return
  const amount = toDecimal(money(debt, currency))
  requireSuccess(await gateway.subscription.retryCharge(subscription.id, amount, true))
}

/**
 * Rejects the `prorationDate` of a preview made on another day: Braintree prorates by its current
 * day, so the amounts would differ.
 */
function requireToday({ prorationDate }: Pick<SwapRequest, 'prorationDate'>, now: Date): void {
  if (prorationDate === null || toCalendarDay(prorationDate) === toCalendarDay(now)) return
  throw new InvalidArgument(
    `The preview is for ${toCalendarDay(prorationDate)}, but Braintree would charge for ${toCalendarDay(now)}: request a new preview`,
  )
}
