import type { Html } from '../../../core/html.ts'
import type { PlanChange } from '../../resources/billing-portal-actions.ts'
import type { Flow } from '../../resources/billing-portal-flows.ts'
import type {
  CustomerRow,
  PortalConfigurationRow,
  PortalSessionRow,
  SubscriptionRow,
} from '../../state/rows.ts'
import { isOver } from '../../state/subscription-status.ts'
import type { UnitOfWork } from '../../state/unit-of-work.ts'
import { itemsOf } from '../../subscriptions/subscription-swap.ts'
import { invalidRequest, noSuch } from '../../wire/errors.ts'

/** One customer in one portal, allowed what its configuration says. */
export interface Portal {
  readonly work: UnitOfWork
  readonly session: PortalSessionRow
  readonly customer: CustomerRow
  readonly configuration: PortalConfigurationRow
  /** The single thing it is for, until that is done. */
  readonly flow: Flow | null
  readonly home: string
}

export interface Viewed extends Portal {
  readonly form: URLSearchParams
  readonly problem: string | null
}

export type View = (viewed: Viewed) => Html

/** The subscription a form or a flow speaks of; only the customer's own, and only a living one. */
export function chosenSubscription(portal: Portal, form: URLSearchParams): SubscriptionRow {
  const { flow, work } = portal
  const id =
    flow?.subscription_cancel?.subscription ??
    flow?.subscription_update?.subscription ??
    flow?.subscription_update_confirm?.subscription ??
    form.get('subscription') ??
    ''
  const subscription = work.find('subscription', id)
  if (!subscription || subscription.customer !== portal.customer.id || isOver(subscription)) {
    throw noSuch('subscription', id, 'subscription')
  }
  return subscription
}

/** What the customer wants instead: what the flow proposes, or what they chose. */
export function chosenChange(
  portal: Portal,
  subscription: SubscriptionRow,
  form: URLSearchParams,
): PlanChange {
  const [item] = itemsOf(portal.work, subscription)
  const now = { price: item?.price ?? '', quantity: item?.quantity ?? 1 }
  const proposed = portal.flow?.subscription_update_confirm
  if (proposed) {
    const [wanted] = proposed.items
    const discounts = proposed.discounts?.map(({ coupon, promotion_code: code }) =>
      code ? { promotion_code: code } : { coupon: coupon ?? '' },
    )
    return {
      price: wanted?.price ?? now.price,
      quantity: wanted?.quantity ?? now.quantity,
      ...(discounts ? { discounts } : {}),
    }
  }
  const discount = typedCode(portal, form)
  return {
    price: form.get('price') ?? now.price,
    quantity: Number(form.get('quantity') || now.quantity),
    ...(discount ? { discounts: [discount] } : {}),
  }
}

function typedCode({ work, customer, configuration }: Portal, form: URLSearchParams) {
  const typed = form.get('code')?.trim()
  if (!typed) return null
  const { default_allowed_updates: allowed } = configuration.features.subscription_update
  const code = work
    .findBy('promotion_code', 'code', typed.toLowerCase())
    .find((each) => each.active && (each.customer ?? customer.id) === customer.id)
  if (!code || !allowed.includes('promotion_code')) {
    throw invalidRequest('This code is invalid.', 'promotion_code')
  }
  return { promotion_code: code.id }
}
