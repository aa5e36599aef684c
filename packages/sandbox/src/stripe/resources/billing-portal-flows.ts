import type Stripe from 'stripe'
import type {
  CustomerRow,
  PortalConfigurationRow,
  PortalSessionRow,
  SubscriptionRow,
} from '../state/rows.ts'
import { hasEnded } from '../state/subscription-status.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { listSubscriptionItems } from '../subscriptions/subscription-swap.ts'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createNoSuchObjectFault,
} from '../wire/errors.ts'
import { createUnsupportedParamFault } from '../wire/unsupported.ts'
import { checkPlanOffered, isSubscriptionEnding } from './billing-portal-actions.ts'

type FlowData = Stripe.BillingPortal.SessionCreateParams.FlowData
export type PortalFlowRow = NonNullable<PortalSessionRow['flow']>

interface Reader {
  readonly work: UnitOfWork
  readonly customer: CustomerRow
  readonly configuration: PortalConfigurationRow
}

const EMPTY = {
  customer_update: null,
  subscription_cancel: null,
  subscription_pause: null,
  subscription_update: null,
  subscription_update_confirm: null,
}

/** Validates the data of a flow, by flow type. */
const FLOWS: Readonly<Record<string, (reader: Reader, data: FlowData) => Partial<PortalFlowRow>>> =
  {
    customer_update({ configuration }) {
      const { enabled } = configuration.features.customer_update
      if (!enabled) throw createDisabledFault('customer update')
      return { customer_update: {} }
    },
    payment_method_update({ configuration }) {
      const { enabled } = configuration.features.payment_method_update
      if (!enabled) throw createDisabledFault('payment method update')
      return {}
    },
    subscription_cancel(reader, data) {
      const path = 'flow_data[subscription_cancel]'
      const params = data.subscription_cancel
      if (!params) throw createMissingParamFault(path)
      const subscription = requireSubscription(reader, params.subscription, path)
      if (!reader.configuration.features.subscription_cancel.enabled) {
        throw createFlowFault(
          'canceled',
          'the subscription cancel feature in the portal configuration is disabled',
        )
      }
      if (isSubscriptionEnding(subscription)) {
        throw createInvalidRequestFault(
          'This subscription is already set to be canceled at the end of its billing period.',
          `${path}[subscription]`,
        )
      }
      const coupon = params.retention?.coupon_offer.coupon
      if (coupon !== undefined)
        reader.work.require('coupon', coupon, `${path}[retention][coupon_offer][coupon]`)
      return {
        subscription_cancel: {
          retention:
            coupon === undefined ? null : { coupon_offer: { coupon }, type: 'coupon_offer' },
          subscription: subscription.id,
        },
      }
    },
    subscription_pause() {
      throw createUnsupportedParamFault('flow_data[subscription_pause]')
    },
    subscription_update(reader, data) {
      const path = 'flow_data[subscription_update]'
      if (!data.subscription_update) throw createMissingParamFault(path)
      const subscription = requireUpdatable(reader, data.subscription_update.subscription, path)
      return { subscription_update: { subscription: subscription.id } }
    },
    subscription_update_confirm: readConfirm,
  }

export function parsePortalFlow(
  work: UnitOfWork,
  customer: CustomerRow,
  configuration: PortalConfigurationRow,
  data: FlowData,
): PortalFlowRow {
  const read = Object.hasOwn(FLOWS, data.type) ? FLOWS[data.type] : undefined
  if (!read) throw createUnsupportedParamFault('flow_data[type]')
  return {
    ...EMPTY,
    after_completion: readCompletion(data.after_completion),
    ...read({ work, customer, configuration }, data),
    type: data.type,
  }
}

function readCompletion(params: FlowData['after_completion']): PortalFlowRow['after_completion'] {
  const path = 'flow_data[after_completion]'
  if (params?.type === 'redirect') {
    if (!params.redirect) throw createMissingParamFault(`${path}[redirect]`)
    return { hosted_confirmation: null, redirect: { ...params.redirect }, type: 'redirect' }
  }
  if (params?.type === 'hosted_confirmation') {
    const message = params.hosted_confirmation?.custom_message ?? null
    return {
      hosted_confirmation: { custom_message: message },
      redirect: null,
      type: 'hosted_confirmation',
    }
  }
  return { hosted_confirmation: null, redirect: null, type: 'portal_homepage' }
}

function readConfirm(reader: Reader, data: FlowData): Partial<PortalFlowRow> {
  const path = 'flow_data[subscription_update_confirm]'
  const params = data.subscription_update_confirm
  if (!params) throw createMissingParamFault(path)
  const subscription = requireUpdatable(reader, params.subscription, path)
  if (params.items.length !== 1) {
    throw createInvalidRequestFault('You must pass exactly one item to update.', `${path}[items]`)
  }
  if ((params.discounts?.length ?? 0) > 1) {
    throw createInvalidRequestFault(
      'You may only specify up to one discount.',
      `${path}[discounts]`,
    )
  }
  const [wanted] = params.items
  const [item] = listSubscriptionItems(reader.work, subscription)
  if (!wanted || wanted.id !== item?.id) {
    throw createNoSuchObjectFault('subscription_item', wanted?.id ?? '', `${path}[items][0][id]`)
  }
  const { price = null, quantity } = wanted
  const change = { price: price ?? item.price, quantity: quantity ?? item.quantity ?? 1 }
  checkPlanOffered(reader.work, subscription, reader.configuration, change, `${path}[items][0]`)
  return {
    subscription_update_confirm: {
      discounts: params.discounts
        ? params.discounts.map(({ coupon = null, promotion_code = null }) => ({
            coupon,
            promotion_code,
          }))
        : null,
      items: [{ id: item.id, price, ...(quantity === undefined ? {} : { quantity }) }],
      subscription: subscription.id,
    },
  }
}

function requireSubscription(reader: Reader, id: string, path: string): SubscriptionRow {
  const subscription = reader.work.find('subscription', id)
  if (!subscription || subscription.customer !== reader.customer.id) {
    throw createNoSuchObjectFault('subscription', id, `${path}[subscription]`)
  }
  if (hasEnded(subscription)) throw createFlowFault('updated', 'it is canceled')
  return subscription
}

function requireUpdatable(reader: Reader, id: string, path: string): SubscriptionRow {
  const subscription = requireSubscription(reader, id, path)
  if (!reader.configuration.features.subscription_update.enabled) {
    throw createFlowFault(
      'updated',
      'the subscription update feature in the portal configuration is disabled',
    )
  }
  if (listSubscriptionItems(reader.work, subscription).length > 1) {
    throw createFlowFault('updated', 'it contains multiple products')
  }
  if (subscription.schedule)
    throw createFlowFault('updated', 'it is managed by a subscription schedule')
  return subscription
}

function createFlowFault(what: 'updated' | 'canceled', why: string) {
  return createInvalidRequestFault(`This subscription cannot be ${what} because ${why}.`)
}

function createDisabledFault(feature: string) {
  return createInvalidRequestFault(
    `The ${feature} feature in the portal configuration is disabled.`,
    'flow_data[type]',
  )
}
