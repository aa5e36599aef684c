import type { Call, OperationResponse, Operations } from '../api/operation.ts'
import { type Searchable, searchIds, searchPage } from '../api/search.ts'
import type { BraintreeContext } from '../state/context.ts'
import { methodXml } from '../state/payment-method-xml.ts'
import type { PaymentMethodRow } from '../state/rows/vault.ts'
import { BadRequest } from '../wire/errors.ts'

/** `202605`: months as numbers that can be compared. */
function monthOf(row: PaymentMethodRow): number | null {
  if (row.instrument.kind !== 'credit_card') return null
  const { expirationMonth, expirationYear } = row.instrument.card
  return Number(`${expirationYear}${expirationMonth}`)
}

function currentMonth(context: BraintreeContext): number {
  const now = context.clock.now()
  return now.getUTCFullYear() * 100 + now.getUTCMonth() + 1
}

/** `start` or `end` of the query, such as `052026`. */
function readMonth(call: Call, key: string): number {
  const [, month, year] = /^(0[1-9]|1[0-2])(\d{4})$/.exec(call.query.get(key) ?? '') ?? []
  if (!month || !year) throw new BadRequest(`${key} is a month and a year`)
  return Number(`${year}${month}`)
}

/** Cards by when they expire; the body has nothing to add. */
function cardsThat(
  isWanted: (call: Call) => (month: number) => boolean,
  step: typeof searchIds,
): (call: Call) => OperationResponse {
  return (call) => {
    const wanted = isWanted(call)
    const noun: Searchable<PaymentMethodRow> = {
      root: 'payment_methods',
      itemName: 'credit_card',
      table: (context) => context.tables.paymentMethods,
      xml: methodXml,
      only: (row) => {
        const month = monthOf(row)
        return month !== null && wanted(month)
      },
      fields: {},
    }
    return step(call, noun)
  }
}

const expired = (call: Call) => {
  const now = currentMonth(call.context)
  return (month: number) => month < now
}

const expiring = (call: Call) => {
  const start = readMonth(call, 'start')
  const end = readMonth(call, 'end')
  return (month: number) => month >= start && month <= end
}

/** Below `/payment_methods`. */
export const expiringCards: Operations = {
  'POST /all/expired_ids': cardsThat(expired, searchIds),
  'POST /all/expired': cardsThat(expired, searchPage),
  'POST /all/expiring_ids': cardsThat(expiring, searchIds),
  'POST /all/expiring': cardsThat(expiring, searchPage),
}
