import { setDefaultMethod } from '../../payments/customer.ts'
import {
  createEmptyAddress,
  detachPaymentMethod,
  requirePaymentMethod,
} from '../../payments/payment-methods.ts'
import {
  acceptRetentionOffer,
  addCard,
  cancelAsCustomer,
  changePlan,
  previewPlan,
  renewAsCustomer,
} from '../../resources/billing-portal-actions.ts'
import type { PaymentMethodRow } from '../../state/rows.ts'
import { createInvalidRequestFault, createNoSuchObjectFault } from '../../wire/errors.ts'
import { type PortalState, readChosenChange, requireChosenSubscription } from './portal-state.ts'

/** Handles a form of the customer portal. */
export interface PortalAction {
  /** Types of portal flows that this action completes. */
  readonly flows: readonly string[]
  /**
   * Returns the card that may need a 3-D Secure challenge before the action runs. `null` if there
   * is none.
   */
  readonly card?: (portal: PortalState, form: URLSearchParams) => string | null
  readonly run: (portal: PortalState, form: URLSearchParams) => void
}

export const PORTAL_ACTIONS: Readonly<Record<string, PortalAction>> = {
  cancel: {
    flows: ['subscription_cancel'],
    run(portal, form) {
      const [feedback, comment] = [form.get('feedback'), form.get('comment')]
      cancelAsCustomer(portal.work, requireChosenSubscription(portal, form), portal.configuration, {
        ...(feedback ? { feedback } : {}),
        ...(comment ? { comment } : {}),
      })
    },
  },
  keep: {
    flows: ['subscription_cancel'],
    run(portal, form) {
      const coupon = portal.flow?.subscription_cancel?.retention?.coupon_offer?.coupon
      if (!coupon) throw createInvalidRequestFault('There is no offer.')
      acceptRetentionOffer(portal.work, requireChosenSubscription(portal, form), coupon)
    },
  },
  renew: {
    flows: [],
    run(portal, form) {
      renewAsCustomer(portal.work, requireChosenSubscription(portal, form), portal.configuration)
    },
  },
  update: {
    flows: ['subscription_update', 'subscription_update_confirm'],
    card(portal, form) {
      const { work, customer, configuration } = portal
      const subscription = requireChosenSubscription(portal, form)
      const change = readChosenChange(portal, subscription, form)
      const { dueNow } = previewPlan(work.context, subscription.id, configuration, change)
      if (dueNow === 0) return null
      return subscription.default_payment_method ?? customer.invoice_settings.default_payment_method
    },
    run(portal, form) {
      const subscription = requireChosenSubscription(portal, form)
      const change = readChosenChange(portal, subscription, form)
      changePlan(portal.work, subscription, portal.configuration, change)
    },
  },
  'add-card': {
    flows: ['payment_method_update'],
    card: (_portal, form) => form.get('card'),
    run(portal, form) {
      requireCards(portal)
      addCard(portal.work, portal.customer, form.get('card') ?? '')
    },
  },
  'default-card': {
    flows: [],
    run(portal, form) {
      setDefaultMethod(portal.work, portal.customer, ownCard(portal, form).id)
    },
  },
  'remove-card': {
    flows: [],
    run: (portal, form) => detachPaymentMethod(portal.work, ownCard(portal, form)),
  },
  details: { flows: ['customer_update'], run: updateDetails },
}

function requireCards({ configuration }: PortalState): void {
  if (configuration.features.payment_method_update.enabled) return
  throw createInvalidRequestFault('The portal configuration does not offer this.')
}

function ownCard(portal: PortalState, form: URLSearchParams): PaymentMethodRow {
  requireCards(portal)
  const id = form.get('method') ?? ''
  const method = requirePaymentMethod(portal.work, id, 'method')
  if (method.customer !== portal.customer.id)
    throw createNoSuchObjectFault('PaymentMethod', id, 'method')
  return method
}

function updateDetails(
  { work, customer, configuration }: PortalState,
  form: URLSearchParams,
): void {
  const { enabled, allowed_updates: allowed } = configuration.features.customer_update
  if (!enabled) throw createInvalidRequestFault('The portal configuration does not offer this.')
  work.edit('customer', customer)
  const email = form.get('email')?.trim()
  if (allowed.includes('email') && email) {
    if (!/^[^\s@]+@[^\s@]+$/.test(email)) {
      throw createInvalidRequestFault(`Invalid email address: ${email}`, 'email', 'email_invalid')
    }
    customer.email = email
  }
  if (allowed.includes('name')) customer.name = form.get('name')?.trim() || null
  if (allowed.includes('phone')) customer.phone = form.get('phone')?.trim() || null
  if (!allowed.includes('address')) return
  const typed = (name: string) => form.get(name)?.trim() || null
  const line1 = typed('line1')
  customer.address = line1
    ? {
        ...createEmptyAddress(),
        line1,
        city: typed('city'),
        postal_code: typed('postal_code'),
        country: typed('country'),
      }
    : null
}
