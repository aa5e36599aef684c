import type { StripeTables } from '../../state/tables.ts'
import type { FormObject } from '../../wire/form.ts'
import { getFormPart, listFormEntries } from '../basics/form-fields.ts'
import { isRecord, renderObjectById } from '../basics/look-up.ts'
import type { VersionChange } from '../basics/version-change.ts'

/** Changes in the API versions named clover, newest first. */
export const CLOVER_VERSION_CHANGES: readonly VersionChange[] = [
  // Payment intents without a transfer had `transfer_data: null`; since December 2025 the field is
  // absent.
  {
    since: '2025-12-15',
    name: 'intent-transfer-data',
    objects: {
      payment_intent(wire) {
        wire.transfer_data ??= null
      },
    },
  },
  // A discount contained its whole coupon; since clover a `source` with the coupon's id.
  {
    since: '2025-09-30',
    name: 'discount-coupon',
    objects: {
      discount(wire, tables) {
        if (!isRecord(wire.source)) return
        wire.coupon = renderObjectById('coupon', wire.source.coupon, tables)
        delete wire.source
      },
    },
  },
  // A promotion code contained its whole coupon; since clover a `promotion` with the coupon's id.
  {
    since: '2025-09-30',
    name: 'promotion-code-coupon',
    params: {
      'PromotionCodes.create'(form) {
        const { coupon } = form
        if (coupon === undefined || form.promotion !== undefined) return
        form.promotion = { type: 'coupon', coupon }
        delete form.coupon
      },
    },
    objects: {
      promotion_code(wire, tables) {
        if (!isRecord(wire.promotion)) return
        wire.coupon = renderObjectById('coupon', wire.promotion.coupon, tables)
        delete wire.promotion
      },
    },
  },
  // The default billing mode was classic; since clover it is flexible.
  {
    since: '2025-09-30',
    name: 'classic-by-default',
    params: {
      'Subscriptions.create': useClassicBilling,
      'SubscriptionSchedules.create'(form) {
        if (form.from_subscription === undefined) useClassicBilling(form)
      },
      'Invoices.createPreview'(form) {
        if (form.subscription !== undefined || form.subscription_details === undefined) return
        useClassicBilling(getFormPart(form, 'subscription_details'))
      },
      'Checkout/Sessions.create'(form) {
        if (form.mode === 'subscription') useClassicBilling(getFormPart(form, 'subscription_data'))
      },
    },
  },
  // The length of a phase could be a number of iterations of its price's interval; since clover it
  // is a duration.
  {
    since: '2025-09-30',
    name: 'phase-iterations',
    params: {
      'SubscriptionSchedules.create': countIntervals,
      'SubscriptionSchedules.update': countIntervals,
    },
  },
]

function useClassicBilling(form: FormObject): void {
  form.billing_mode ??= { type: 'classic' }
}

function countIntervals(form: FormObject, tables: StripeTables): void {
  for (const phase of listFormEntries(form, 'phases')) {
    const times = Number(phase.iterations)
    const recurring = recurringOf(phase, tables)
    if (!recurring || !Number.isSafeInteger(times) || times < 1) continue
    phase.duration = {
      interval: recurring.interval,
      interval_count: String(times * recurring.interval_count),
    }
    delete phase.iterations
  }
}

function recurringOf(phase: FormObject, tables: StripeTables) {
  const [item] = listFormEntries(phase, 'items')
  const price = item?.price ?? item?.plan
  return typeof price === 'string' ? tables.price.get(price)?.recurring : undefined
}
