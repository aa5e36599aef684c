import { type ActiveDiscount, formatMoney } from '@tollgate/billing'
import { formatDay } from './dates.ts'

/** `Spring: 25 % off until 3 March 2027.` */
export function describeDiscount(discount: ActiveDiscount): string {
  const { name, percentOff, amountOff } = discount
  const off = amountOff ? formatMoney(amountOff) : `${percentOff ?? 0} %`
  return `${name}: ${off} off ${describeDuration(discount)}.`
}

function describeDuration({ endsAt, billsLeft }: ActiveDiscount): string {
  if (endsAt) return `until ${formatDay(endsAt)}`
  if (billsLeft === null) return 'every bill'
  return billsLeft === 1 ? 'the next bill' : `the next ${billsLeft} bills`
}
