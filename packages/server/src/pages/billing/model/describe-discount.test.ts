import { expect, it } from 'vitest'
import { describeDiscount } from './describe-state.ts'

const half = { coupon: 'HALF', name: 'Half', percentOff: 50, amountOff: null }

it.each([
  { billsLeft: 1, endsAt: null, says: 'Half: 50% off the next invoice.' },
  { billsLeft: 2, endsAt: null, says: 'Half: 50% off the next 2 invoices.' },
  {
    billsLeft: null,
    endsAt: new Date('2027-03-03T00:00:00Z'),
    says: 'Half: 50% off until 3 March 2027.',
  },
  { billsLeft: null, endsAt: null, says: 'Half: 50% off every invoice.' },
])('describeDiscount returns "$says"', ({ says, ...discount }) => {
  expect(describeDiscount({ ...half, ...discount })).toBe(says)
})
