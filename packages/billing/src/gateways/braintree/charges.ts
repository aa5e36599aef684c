import type braintree from 'braintree'
import { InvalidAmount } from '../../errors.ts'
import { type Amount, fromDecimal, type Money, toDecimal } from '../../money.ts'
import type { ChargeOptions, Gateway } from '../gateway.ts'
import type { BraintreeContext } from './client.ts'
import { requireMethod } from './customers.ts'
import { requireSuccess } from './errors.ts'
import { toInvoice } from './invoices.ts'

type Charges = Pick<Gateway, 'toMoney' | 'charge' | 'invoiceFor'>

export function braintreeCharges(context: BraintreeContext): Charges {
  const { currency, options } = context

  async function sell(
    customerId: string,
    amount: Money,
    { idempotencyKey, ...more }: ChargeOptions,
  ): Promise<braintree.Transaction> {
    const request = {
      paymentMethodToken: await requireMethod(context, customerId),
      ...more,
      amount: toDecimal(amount),
      options: { submitForSettlement: true, ...(more.options as object | undefined) },
      ...(idempotencyKey === undefined ? {} : { apiRequestKey: idempotencyKey }),
    }
    const result = await context.gateway.transaction.sale(request)
    return requireSuccess(result).transaction
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
    async invoiceFor(customerId, { description, amount }, { voidOnFailure: _stripe, ...more }) {
      const field = options.descriptionField ?? 'description'
      const transaction = await sell(customerId, amount, {
        ...more,
        customFields: { ...(more.customFields as object | undefined), [field]: description },
      })
      return toInvoice(context, transaction, () => 0)
    },
  }
}
