import type braintree from 'braintree'
import { InvalidAmount, ProviderRejected } from '../../../errors.ts'
import { type Amount, fromDecimal, type Money, toDecimal } from '../../../values/money.ts'
import type { Gateway } from '../../contract/gateway.ts'
import { refuseOverrides } from '../../contract/overrides.ts'
import type { ChargeOptions } from '../../contract/payment.ts'
import type { BraintreeContext } from '../sdk/client.ts'
import { requireSuccess } from '../sdk/errors.ts'
import { requireMethod } from './customers.ts'
import { braintreeInvoices, salesOf, toInvoice } from './invoices.ts'
import { namesOfKey, orderOfKey, requestKeyOf } from './order-key.ts'

type Charges = Pick<
  Gateway,
  'toMoney' | 'charge' | 'invoiceFor' | 'payInvoice' | 'amountOwed' | 'payNow'
>

const DECIDED = ['amount', 'customerId', 'apiRequestKey']

export function braintreeCharges(context: BraintreeContext): Charges {
  const { currency, options } = context
  const invoices = braintreeInvoices(context)
  const field = options.descriptionField ?? 'description'

  async function sell(
    customerId: string,
    amount: Money,
    { idempotencyKey, ...more }: ChargeOptions,
  ): Promise<braintree.Transaction> {
    refuseOverrides(more, DECIDED)
    // An order's id of the caller's own may stand for several charges.
    const isOrder = idempotencyKey !== undefined && more.orderId === undefined
    const before = isOrder ? await lookUp(context, customerId, idempotencyKey) : null
    if (before?.done) requireSameKind(before.done, more)
    if (before?.done?.amount === toDecimal(amount)) return before.done
    const request = {
      paymentMethodToken: await requireMethod(context, customerId),
      ...more,
      amount: toDecimal(amount),
      options: { submitForSettlement: true, ...(more.options as object | undefined) },
      ...(before ? { orderId: before.orderId } : {}),
      ...(idempotencyKey === undefined
        ? {}
        : { apiRequestKey: before?.apiRequestKey ?? idempotencyKey }),
    }
    const result = await context.gateway.transaction.sale(request)
    return requireSuccess(result).transaction
  }

  /** A sale is an invoice by its description; its words may differ, as languages do. */
  function requireSameKind(done: braintree.Transaction, wanted: ChargeOptions): void {
    const isInvoice = (customFields: unknown) =>
      Boolean((customFields as Readonly<Record<string, unknown>> | undefined)?.[field])
    if (isInvoice(done.customFields) === isInvoice(wanted.customFields)) return
    throw new ProviderRejected(
      `This idempotency key was used for something else: the transaction ${done.id}`,
      { provider: 'braintree', providerCode: null },
    )
  }

  return {
    toMoney(amount: Amount): Money {
      const value = typeof amount === 'number' ? fromDecimal(amount, currency) : amount
      if (value.currency === currency) return value
      throw new InvalidAmount(
        `The merchant account is in ${currency.toUpperCase()}, not ${value.currency.toUpperCase()}`,
      )
    },
    charge: sell,
    async invoiceFor(customerId, { description, amount }, { voidOnFailure: _never, ...more }) {
      const transaction = await sell(customerId, amount, {
        ...more,
        customFields: { ...(more.customFields as object | undefined), [field]: description },
      })
      return {
        invoice: toInvoice(context, transaction, () => 0),
        subscription: null,
        failure: null,
      }
    },
    // Only sales that went through are invoices here, so none of them is owed.
    async payInvoice(id, customerId) {
      const invoice = await invoices.findInvoice(id, customerId, () => 0)
      return invoice && { invoice, subscription: null, failure: null }
    },
    async amountOwed({ status, raw }) {
      const { balance } = raw as braintree.Subscription
      return fromDecimal(status === 'Past Due' ? Number(balance ?? 0) : 0, currency)
    },
    async payNow({ id, status }) {
      if (status !== 'Past Due') return
      requireSuccess(await context.gateway.subscription.retryCharge(id, undefined, true))
    },
  }
}

const FAILED = ['processor_declined', 'gateway_rejected', 'failed']

/**
 * What stands under a key, and how the next attempt is named. Should the list lag behind, the key before gives its own
 * transaction again: nothing is charged twice.
 */
async function lookUp(
  context: BraintreeContext,
  customerId: string,
  key: string,
): Promise<{
  readonly orderId: string
  readonly done: braintree.Transaction | null
  readonly apiRequestKey: string
}> {
  const names = namesOfKey(key)
  const sales = await salesOf(context, customerId)
  const before = sales.filter(({ orderId }) => names.includes(orderId ?? ''))
  const declines = before.filter(({ status }) => FAILED.includes(status)).length
  const done = before.find(({ status }) => !FAILED.includes(status)) ?? null
  return { orderId: orderOfKey(key), done, apiRequestKey: requestKeyOf(key, declines) }
}
