import { expect } from 'vitest'
import { PaymentActionRequired } from '../../../src/index.ts'
import { stripeSdk } from '../../support.ts'
import {
  findMainSubscription,
  PAID_SUBSCRIPTION,
  type Story,
  type StoryRun,
  subscribe,
  subscriptionJob,
} from '../story.ts'

/** Each user has their own single-use code, so that runs do not interfere. */
const codeOf = ({ user }: StoryRun) => `ONCE-${user.id}`

async function makeCode(run: StoryRun): Promise<void> {
  const stripe = await stripeSdk(run.test)
  await stripe.promotionCodes.create({
    code: codeOf(run),
    promotion: { type: 'coupon', coupon: 'SPRING' },
    max_redemptions: 1,
  })
}

async function subscribeFirst(run: StoryRun): Promise<void> {
  await makeCode(run)
  await subscribe(run)
}

/** Uses up the code for a subscription whose first payment is never confirmed. */
async function neverPay(run: StoryRun): Promise<void> {
  await makeCode(run)
  const asked = run.user
    .newSubscription('main', 'monthly')
    .withPromotionCode(codeOf(run))
    .create('pm_card_authenticationRequired')
  await expect(asked).rejects.toThrow(PaymentActionRequired)
}

const takesOff = (names: readonly string[]) => async (run: StoryRun, at: string) => {
  const discounts = await (await findMainSubscription(run)).discounts()
  expect(
    discounts.map(({ coupon }) => coupon),
    at,
  ).toEqual(names)
}

export const promotionCodes: readonly Story[] = [
  {
    name: 'create with a single-use code',
    providers: ['stripe'],
    before: makeCode,
    job: (run) => ({ job: 'create', terms: [['withPromotionCode', codeOf(run)]] }),
    outcome: { ...PAID_SUBSCRIPTION, taken: 700 },
  },
  {
    name: 'create with a code used by an unconfirmed payment',
    providers: ['stripe'],
    before: neverPay,
    job: (run) => ({ job: 'create', terms: [['withPromotionCode', codeOf(run)]] }),
    outcome: { ...PAID_SUBSCRIPTION, taken: 700, made: { stripe: 2, braintree: 0 } },
  },
  {
    name: 'applyPromotionCode with a single-use code',
    providers: ['stripe'],
    before: subscribeFirst,
    job: (run) => subscriptionJob('applyPromotionCode', codeOf(run)),
    outcome: takesOff(['SPRING']),
  },
  {
    name: 'removeDiscounts',
    providers: ['stripe'],
    before: async (run) => (await subscribe(run)).applyCoupon('SPRING'),
    job: subscriptionJob('removeDiscounts'),
    outcome: takesOff([]),
  },
]
