import { InvalidArgument } from '../../errors.ts'
import type { Gateway, Swap } from '../gateway.ts'
import { type BraintreeContext, idOfOperation } from './client.ts'
import { dayOf } from './days.ts'
import { requireSuccess } from './errors.ts'
import { forecast } from './forecast.ts'
import { planSwap } from './planned-swap.ts'
import { requirePlan } from './plans.ts'
import { createOnce } from './subscriptions.ts'

type Swaps = Pick<Gateway, 'needsReplacement' | 'swap' | 'replace' | 'previewSwap'>

/** A swap is planned in one place, from what Braintree has; then it is sent, or forecast. */
export function braintreeSwaps(context: BraintreeContext): Swaps {
  const { gateway } = context

  async function plan(id: string, wanted: Swap, now: Date) {
    const current = await gateway.subscription.find(id)
    const next = await requirePlan(context, wanted.plan)
    const old = current.planId === next.id ? next : await requirePlan(context, current.planId)
    const target = { current, old, plan: next, wanted, now }
    return { target, planned: planSwap(context, target) }
  }

  return {
    async needsReplacement(id, wanted, now) {
      requireToday(wanted, now)
      const { planned } = await plan(id, wanted, now)
      return planned.kind === 'replacement'
    },

    async swap(id, wanted, now) {
      const { planned } = await plan(id, wanted, now)
      if (planned.kind === 'replacement') throw new Error('This swap needs a new subscription')
      if (planned.isThere) return
      requireSuccess(await gateway.subscription.update(id, planned.request))
    },

    async replace(id, wanted, { operation, now }) {
      const { planned } = await plan(id, wanted, now)
      if (planned.kind === 'change') throw new Error('This swap is made in place')
      return createOnce(context, { ...planned.request, id: idOfOperation(operation) })
    },

    async previewSwap(id, wanted, now) {
      const { target, planned } = await plan(id, wanted, now)
      return forecast(context, target, planned)
    },
  }
}

/** Braintree counts by its own day: a preview of another one showed other cents. */
function requireToday({ prorationDate }: Swap, now: Date): void {
  if (prorationDate === null || dayOf(prorationDate) === dayOf(now)) return
  throw new InvalidArgument(
    `The preview is of ${dayOf(prorationDate)}, and Braintree would charge by ${dayOf(now)}: call previewSwap() again`,
  )
}
