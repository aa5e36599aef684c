import { expect } from 'vitest'
import { PaymentActionRequired } from '../../../src/index.ts'
import { stripeSdk } from '../../support.ts'
import { type Asking, main, ofSubscription, PAID, type Story, subscribe } from '../story.ts'

/** Each user has a code that works once, whoever is killed. */
const codeOf = ({ user }: Asking) => `ONCE-${user.id}`

async function makeCode(asking: Asking): Promise<void> {
  const stripe = await stripeSdk(asking.test)
  await stripe.promotionCodes.create({
    code: codeOf(asking),
    promotion: { type: 'coupon', coupon: 'SPRING' },
    max_redemptions: 1,
  })
}

async function subscribeFirst(asking: Asking): Promise<void> {
  await makeCode(asking)
  await subscribe(asking)
}

/** A first payment that never comes has used the code. */
async function neverPay(asking: Asking): Promise<void> {
  await makeCode(asking)
  const asked = asking.user
    .newSubscription('main', 'monthly')
    .withPromotionCode(codeOf(asking))
    .create('pm_card_authenticationRequired')
  await expect(asked).rejects.toThrow(PaymentActionRequired)
}

const takesOff = (names: readonly string[]) => async (asking: Asking, at: string) => {
  const discounts = await (await main(asking)).discounts()
  expect(
    discounts.map(({ coupon }) => coupon),
    at,
  ).toEqual(names)
}

export const promotionCodes: readonly Story[] = [
  {
    name: 'create with a code that works once',
    providers: ['stripe'],
    before: makeCode,
    job: (asking) => ({ job: 'create', terms: [['withPromotionCode', codeOf(asking)]] }),
    outcome: { ...PAID, taken: 700 },
  },
  {
    name: 'create with a code that a challenge has used',
    providers: ['stripe'],
    before: neverPay,
    job: (asking) => ({ job: 'create', terms: [['withPromotionCode', codeOf(asking)]] }),
    outcome: { ...PAID, taken: 700, made: { stripe: 2, braintree: 0 } },
  },
  {
    name: 'apply a code that works once',
    providers: ['stripe'],
    before: subscribeFirst,
    job: (asking) => ofSubscription('applyPromotionCode', codeOf(asking)),
    outcome: takesOff(['SPRING']),
  },
  {
    name: 'remove what is taken off',
    providers: ['stripe'],
    before: async (asking) => (await subscribe(asking)).applyCoupon('SPRING'),
    job: ofSubscription('removeDiscounts'),
    outcome: takesOff([]),
  },
]
