import type { PhaseItemRow, PhaseRow, SubscriptionRow } from '../../state/rows.ts'
import type { UnitOfWork } from '../../state/unit-of-work.ts'

/** Returns the subscription's present terms as a schedule's phase with the given dates. */
export function createPhase(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  dates: Pick<PhaseRow, 'start_date' | 'end_date'>,
): PhaseRow {
  return {
    ...createEmptyPhase(subscription.currency),
    ...dates,
    ...presentTerms(work, subscription),
  }
}

/**
 * Updates the current phase of a subscription's schedule after the subscription was changed
 * directly. The other phases stay as they are.
 */
export function syncCurrentPhase(work: UnitOfWork, subscription: SubscriptionRow): void {
  const schedule = work.find('subscription_schedule', subscription.schedule ?? '')
  const at = schedule?.phases.findIndex(
    ({ start_date }) => start_date === schedule.current_phase?.start_date,
  )
  const phase = at === undefined ? undefined : schedule?.phases[at]
  if (!schedule || at === undefined || !phase) return
  const terms = presentTerms(work, subscription)
  const { automatic_tax, default_tax_rates, discounts, items, trial_end } = phase
  const told = { automatic_tax, default_tax_rates, discounts, items, trial_end }
  if (JSON.stringify(told) === JSON.stringify(terms)) return
  work.edit('subscription_schedule', schedule)
  schedule.phases = schedule.phases.with(at, { ...phase, ...terms })
}

function presentTerms(
  work: UnitOfWork,
  subscription: SubscriptionRow,
): Pick<PhaseRow, 'automatic_tax' | 'default_tax_rates' | 'discounts' | 'items' | 'trial_end'> {
  const items = work.findBy('subscription_item', 'subscription', subscription.id)
  return {
    automatic_tax: { ...subscription.automatic_tax },
    default_tax_rates: [...subscription.default_tax_rates],
    discounts: subscription.discounts.map(toPhaseDiscount),
    items: items.map((item) => ({
      ...createPhaseItem(item.price, item.quantity),
      discounts: item.discounts.map(toPhaseDiscount),
      metadata: { ...item.metadata },
      tax_rates: [...item.tax_rates],
    })),
    trial_end: subscription.status === 'trialing' ? subscription.trial_end : null,
  }
}

function toPhaseDiscount(discount: string): PhaseRow['discounts'][number] {
  return { coupon: null, discount, promotion_code: null }
}

export function createEmptyPhase(
  currency: string,
): Omit<PhaseRow, 'start_date' | 'end_date' | 'items'> {
  return {
    add_invoice_items: [],
    application_fee_percent: null,
    billing_cycle_anchor: null,
    billing_thresholds: null,
    collection_method: null,
    currency,
    default_payment_method: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    invoice_settings: null,
    metadata: {},
    on_behalf_of: null,
    proration_behavior: 'create_prorations',
    transfer_data: null,
    trial_end: null,
  }
}

export function createPhaseItem(price: string, quantity: number | undefined): PhaseItemRow {
  return {
    billing_thresholds: null,
    discounts: [],
    metadata: {},
    plan: price,
    price,
    ...(quantity === undefined ? {} : { quantity }),
    tax_rates: [],
  }
}
