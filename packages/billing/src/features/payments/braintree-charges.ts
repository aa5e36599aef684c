import type braintree from 'braintree'
import { InvalidAmount, ProviderRejected } from '../../core/errors/errors.ts'
import { type Amount, fromDecimal, type Money, toDecimal } from '../../core/values/money.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import { requireSuccess } from '../../providers/braintree/errors.ts'
import type { Gateway } from '../../providers/gateway.ts'
import { rejectReservedOptions } from '../../providers/overrides.ts'
import { requireDefaultMethod } from '../customers/braintree.ts'
import {
  convertSaleToInvoice,
  createBraintreeInvoices,
  listCustomerSales,
} from '../invoices/braintree.ts'
import { buildBraintreeIdempotencyKey, buildOrderId } from './braintree-order-key.ts'
import type { ChargeOptions, InvoiceForOptions } from './charge-contract.ts'

type Charges = Pick<
  Gateway,
  'toMoney' | 'charge' | 'invoiceFor' | 'payInvoice' | 'amountOwed' | 'payNow'
>

const DECIDED = ['amount', 'customerId', 'apiRequestKey']

export function createBraintreeCharges(context: BraintreeContext): Charges {
  const { currency, options } = context
  const invoices = createBraintreeInvoices(context)
  const field = options.descriptionField ?? 'description'

  async function sell(
    customerId: string,
    amount: Money,
    { idempotencyKey, captureLater = false, ...more }: ChargeOptions<'braintree'>,
  ): Promise<braintree.Transaction> {
    rejectReservedOptions(more, DECIDED)
    // An `orderId` set by the caller may belong to several charges.
    const isOrder = idempotencyKey !== undefined && more.orderId === undefined
    const before = isOrder ? await findEarlierCharge(context, customerId, idempotencyKey) : null
    if (before?.done) requireSameKind(before.done, { ...more, captureLater })
    if (before?.done?.amount === toDecimal(amount)) return before.done
    const request = {
      paymentMethodToken: await requireDefaultMethod(context, customerId),
      ...more,
      amount: toDecimal(amount),
      options: {
        submitForSettlement: true,
        ...more.options,
        ...(captureLater ? { submitForSettlement: false } : {}),
      },
      ...(before ? { orderId: before.orderId } : {}),
      ...(idempotencyKey === undefined
        ? {}
        : { apiRequestKey: before?.apiRequestKey ?? idempotencyKey }),
    }
    const result = await context.gateway.transaction.sale(request)
    return requireSuccess(result).transaction
  }

  /**
   * Requires that the key was used for the same kind of sale. A sale with a description is an
   * invoice; the text may differ, for example by language.
   */
  function requireSameKind(done: braintree.Transaction, wanted: ChargeOptions<'braintree'>): void {
    const isInvoice = (customFields: unknown) =>
      Boolean((customFields as Readonly<Record<string, unknown>> | undefined)?.[field])
    const isTaken =
      wanted.captureLater ||
      wanted.options?.submitForSettlement === false ||
      done.status !== 'authorized'
    if (isTaken && isInvoice(done.customFields) === isInvoice(wanted.customFields)) return
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
    async invoiceFor(
      customerId,
      { description, amount },
      { voidOnFailure: _never, ...more }: InvoiceForOptions<'braintree'>,
    ) {
      const transaction = await sell(customerId, amount, {
        ...more,
        customFields: { ...more.customFields, [field]: description },
      })
      return {
        invoice: convertSaleToInvoice(context, transaction, () => 0),
        subscription: null,
        failure: null,
      }
    },
    // Only successful sales are invoices at Braintree, so none of them is unpaid.
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
 * Looks up the sale made with an idempotency key, and the request key of the next attempt. If the
 * list lags behind, Braintree returns the earlier transaction for the earlier request key, so
 * nothing is charged twice.
 */
async function findEarlierCharge(
  context: BraintreeContext,
  customerId: string,
  key: string,
): Promise<{
  readonly orderId: string
  readonly done: braintree.Transaction | null
  readonly apiRequestKey: string
}> {
  const orderId = buildOrderId(key)
  const sales = await listCustomerSales(context, customerId)
  const before = sales.filter((sale) => sale.orderId === orderId)
  const declines = before.filter(({ status }) => FAILED.includes(status)).length
  const done = before.find(({ status }) => !FAILED.includes(status)) ?? null
  return { orderId, done, apiRequestKey: buildBraintreeIdempotencyKey(key, declines) }
}
