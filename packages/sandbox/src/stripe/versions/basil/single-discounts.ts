import type { Tables } from '../../state/tables.ts'
import type { FormObject } from '../../wire/form.ts'
import type { WireObject } from '../../wire/wire-object.ts'
import { entriesOf } from '../basics/form-fields.ts'
import { isRecord, lookUp } from '../basics/look-up.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** Before there were several discounts there was one, and one coupon or code to ask for it. */
export const singleDiscounts: VersionChange = {
  since: '2025-03-31',
  name: 'single-discounts',
  params: {
    'Subscriptions.create': listTheDiscount,
    'Subscriptions.update': listTheDiscount,
    'Invoices.createPreview': listTheDiscount,
    'SubscriptionSchedules.create': listEachDiscount,
    'SubscriptionSchedules.update': listEachDiscount,
  },
  objects: {
    subscription: addTheDiscount,
    invoice: addTheDiscount,
    subscription_schedule(wire) {
      for (const phase of Array.isArray(wire.phases) ? wire.phases : []) {
        if (isRecord(phase)) phase.coupon = firstCoupon(phase.discounts)
      }
    },
  },
  expandable: { subscription_schedule: ['phases.coupon'] },
}

function addTheDiscount(wire: WireObject, tables: Tables): void {
  const [first] = Array.isArray(wire.discounts) ? wire.discounts : []
  wire.discount = lookUp('discount', first, tables)
}

function firstCoupon(discounts: unknown): unknown {
  const [first] = Array.isArray(discounts) ? discounts : []
  return isRecord(first) ? (first.coupon ?? null) : null
}

function listTheDiscount(form: FormObject): void {
  for (const name of ['coupon', 'promotion_code']) {
    const value = form[name]
    if (value === undefined || form.discounts !== undefined) continue
    // Nothing in its place takes the discount away, then as now.
    form.discounts = value === '' ? '' : { 0: { [name]: value } }
    delete form[name]
  }
}

function listEachDiscount(form: FormObject): void {
  for (const phase of entriesOf(form, 'phases')) listTheDiscount(phase)
}
