import type { Html } from '@tollgate/http'
import type { PlanChange } from '../../resources/billing-portal-actions.ts'
import type { PortalFlowRow } from '../../resources/billing-portal-flows.ts'
import type {
  CustomerRow,
  PortalConfigurationRow,
  PortalSessionRow,
  SubscriptionRow,
} from '../../state/rows.ts'
import { hasEnded } from '../../state/subscription-status.ts'
import type { UnitOfWork } from '../../state/unit-of-work.ts'
import { listSubscriptionItems } from '../../subscriptions/subscription-swap.ts'
import { createInvalidRequestFault, createNoSuchObjectFault } from '../../wire/errors.ts'

/** A portal session of a customer, with the configuration that limits it. */
export interface PortalState {
  readonly work: UnitOfWork
  readonly session: PortalSessionRow
  readonly customer: CustomerRow
  readonly configuration: PortalConfigurationRow
  /**
   * The flow for which the session was created, until the flow is completed. `null` if the customer
   * may use the whole portal.
   */
  readonly flow: PortalFlowRow | null
  readonly home: string
}

export interface PortalViewData extends PortalState {
  readonly form: URLSearchParams
  readonly problem: string | null
}

export type PortalView = (viewed: PortalViewData) => Html

/**
 * Finds the subscription that a form or a flow of the portal refers to.
 * @throws {StripeFault} If the subscription has ended or belongs to another customer.
 */
export function requireChosenSubscription(
  portal: PortalState,
  form: URLSearchParams,
): SubscriptionRow {
  const { flow, work } = portal
  const id =
    flow?.subscription_cancel?.subscription ??
    flow?.subscription_update?.subscription ??
    flow?.subscription_update_confirm?.subscription ??
    form.get('subscription') ??
    ''
  const subscription = work.find('subscription', id)
  if (!subscription || subscription.customer !== portal.customer.id || hasEnded(subscription)) {
    throw createNoSuchObjectFault('subscription', id, 'subscription')
  }
  return subscription
}

/** Returns the change of plan that the flow proposes, or that the customer chose in the form. */
export function readChosenChange(
  portal: PortalState,
  subscription: SubscriptionRow,
  form: URLSearchParams,
): PlanChange {
  const [item] = listSubscriptionItems(portal.work, subscription)
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
  const discount = findTypedPromotionCode(portal, form)
  return {
    price: form.get('price') ?? now.price,
    quantity: Number(form.get('quantity') || now.quantity),
    ...(discount ? { discounts: [discount] } : {}),
  }
}

function findTypedPromotionCode(
  { work, customer, configuration }: PortalState,
  form: URLSearchParams,
) {
  const typed = form.get('code')?.trim()
  if (!typed) return null
  const { default_allowed_updates: allowed } = configuration.features.subscription_update
  const code = work
    .findBy('promotion_code', 'code', typed.toLowerCase())
    .find((each) => each.active && (each.customer ?? customer.id) === customer.id)
  if (!code || !allowed.includes('promotion_code')) {
    throw createInvalidRequestFault('This code is invalid.', 'promotion_code')
  }
  return { promotion_code: code.id }
}
