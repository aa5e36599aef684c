import type { BraintreeApiCall, BraintreeOperations, OperationResponse } from '../api/operation.ts'
import { listMatchingIds, type SearchFields, searchPage } from '../api/search.ts'
import type { BraintreeContext } from '../state/context.ts'
import { renderMethodXml } from '../state/payment-method-xml.ts'
import type { PaymentMethodRow } from '../state/rows/vault.ts'
import { BadRequest } from '../wire/errors.ts'

/** Returns the expiration month as a comparable number: `202605`. */
function monthOf(row: PaymentMethodRow): number | null {
  if (row.instrument.kind !== 'credit_card') return null
  const { expirationMonth, expirationYear } = row.instrument.card
  return Number(`${expirationYear}${expirationMonth}`)
}

function currentMonth(context: BraintreeContext): number {
  const now = context.clock.now()
  return now.getUTCFullYear() * 100 + now.getUTCMonth() + 1
}

/** Reads the month from the query parameter `start` or `end`: `052026`. */
function readMonth(call: BraintreeApiCall, key: string): number {
  const [, month, year] = /^(0[1-9]|1[0-2])(\d{4})$/.exec(call.query.get(key) ?? '') ?? []
  if (!month || !year) throw new BadRequest(`${key} is a month and a year`)
  return Number(`${year}${month}`)
}

/** Searches cards by expiration. The request body is ignored. */
function searchCards(
  isWanted: (call: BraintreeApiCall) => (month: number) => boolean,
  step: typeof listMatchingIds,
): (call: BraintreeApiCall) => OperationResponse {
  return (call) => {
    const wanted = isWanted(call)
    const noun: SearchFields<PaymentMethodRow> = {
      root: 'payment_methods',
      itemName: 'credit_card',
      table: (context) => context.tables.paymentMethods,
      xml: renderMethodXml,
      only: (row) => {
        const month = monthOf(row)
        return month !== null && wanted(month)
      },
      fields: {},
    }
    return step(call, noun)
  }
}

const createExpiredFilter = (call: BraintreeApiCall) => {
  const now = currentMonth(call.context)
  return (month: number) => month < now
}

const createExpiringFilter = (call: BraintreeApiCall) => {
  const start = readMonth(call, 'start')
  const end = readMonth(call, 'end')
  return (month: number) => month >= start && month <= end
}

/** Operations that search for expired and expiring cards, below the path `/payment_methods`. */
export const expiringCardOperations: BraintreeOperations = {
  'POST /all/expired_ids': searchCards(createExpiredFilter, listMatchingIds),
  'POST /all/expired': searchCards(createExpiredFilter, searchPage),
  'POST /all/expiring_ids': searchCards(createExpiringFilter, listMatchingIds),
  'POST /all/expiring': searchCards(createExpiringFilter, searchPage),
}
