import type { ProviderName } from '../../src/index.ts'
import { ofMain, own, type Step } from './step.ts'

const DAY = 86_400_000
const PLANS = ['monthly', 'pro', 'quarterly', 'yearly']

/** The steps that most histories begin with. */
export const beginnings: readonly Step[] = [
  ...PLANS.map((plan) =>
    own(`create ${plan}`, (user, { given }) =>
      user.newSubscription('main', plan).create(given.card),
    ),
  ),
  own('create with a trial', (user, { given }) =>
    user.newSubscription('main', 'monthly').trialDays(9).create(given.card),
  ),
]

const everywhere: readonly Step[] = [
  ...beginnings,
  ...PLANS.map((plan) => ofMain(`swap ${plan}`, (main) => main.swap(plan))),
  own('create with a declined card', (user, { given }) =>
    user.newSubscription('main', 'monthly').create(given.declined),
  ),
  ofMain('skip the trial', (main) => main.skipTrial().swap('pro')),
  ofMain('swap without proration', (main) => main.noProrate().swap('pro')),
  ofMain('swap and invoice', (main) => main.swapAndInvoice('pro')),
  ofMain('cancel', (main) => main.cancel()),
  ofMain('cancel now', async (main, world) => {
    world.hasCancelledNow = true
    await main.cancelNow()
  }),
  ofMain('resume', (main) => main.resume()),
  ofMain('add price', (main) => main.addPrice('seat', 2)),
  ofMain('one more seat', (main) => main.incrementQuantity(1, 'seat')),
  ofMain('remove price', (main) => main.removePrice('seat')),
  ofMain('another seat', (main) => main.swapItem('seat', 'support')),
  ofMain('another tax', async (main, world) => {
    world.tax = world.tax === 0 ? 19.6 : 0
    await main.syncTaxPercentage()
  }),
  own('other details', (user) =>
    user.updateCustomer({ name: 'Ada King', address: { city: 'Berlin', country: 'DE' } }),
  ),
  own('new card', (user, { given }) => user.updateCard(given.otherCard)),
  own('another method', (user, { given }) => user.addPaymentMethod(given.card)),
  own('the oldest method', async (user) => {
    const oldest = (await user.paymentMethods()).at(-1)
    await user.updateDefaultPaymentMethod(oldest?.id ?? 'none')
  }),
  own('no methods', (user) => user.deletePaymentMethods()),
]

const atStripe: readonly Step[] = [
  own('create with a code', (user, { given }) =>
    user.newSubscription('main', 'pro').withPromotionCode('HELLO').create(given.card),
  ),
  own('create from a day on', (user, { given, sandbox }) =>
    user
      .newSubscription('main', 'monthly')
      .anchorOn(new Date(sandbox.clock.nowMs() + 10 * DAY))
      .create(given.card),
  ),
  own('create with a trial before a day', (user, { given, sandbox }) =>
    user
      .newSubscription('main', 'quarterly')
      .trialDays(2)
      .anchorOn(new Date(sandbox.clock.nowMs() + 10 * DAY))
      .create(given.card),
  ),
  own('create in the past', (user, { given, sandbox }) =>
    user
      .newSubscription('main', 'monthly')
      .backdate(new Date(sandbox.clock.nowMs() - 40 * DAY))
      .create(given.card),
  ),
  own('create with a tax by address', (user, { given }) =>
    user
      .newSubscription('main', 'monthly')
      .withTax('automatic')
      .create(given.card, { address: { country: 'DE' } }),
  ),
  own('create without a card', (user) =>
    user.newSubscription('main', 'monthly').trialDays(9).withoutCard().create(),
  ),
  ofMain('one more', (main) => main.incrementQuantity()),
  ofMain('cancel at a date', (main, { sandbox }) =>
    main.cancelAt(new Date(sandbox.clock.nowMs() + 50 * DAY)),
  ),
  ofMain('extend the trial', (main, { sandbox }) =>
    main.extendTrial(new Date(sandbox.clock.nowMs() + 5 * DAY)),
  ),
  ofMain('end the trial', (main) => main.endTrial()),
  ofMain('a metered price', (main, { metered }) => main.addMeteredPrice(metered)),
  ofMain('no metered price', (main, { metered }) => main.removePrice(metered)),
  ofMain('a coupon', (main) => main.applyCoupon('SPRING')),
  ofMain('a code', (main) => main.applyPromotionCode('HELLO')),
  ofMain('no discounts', (main) => main.removeDiscounts()),
  ofMain('plan pro', (main) => main.swapAtPeriodEnd('pro')),
  ofMain('plan a year', (main) => main.swapAtPeriodEnd('yearly')),
  ofMain('plan seats', (main) =>
    main.swapAtPeriodEnd([{ price: 'pro' }, { price: 'seat', quantity: 4 }]),
  ),
  ofMain('plan nothing', (main) => main.cancelPlannedSwap()),
  ofMain('pause', (main) => main.pause()),
  ofMain('pause for a while', (main, { sandbox }) =>
    main.pause({ until: new Date(sandbox.clock.nowMs() + 20 * 86_400_000) }),
  ),
  ofMain('unpause', (main) => main.unpause()),
  own('a tax id', (user) => user.createTaxId('eu_vat', 'DE123456789')),
  own('no tax ids', async (user) => {
    for (const { id } of await user.taxIds()) await user.deleteTaxId(id)
  }),
]

/** Calls that the application makes for its user. */
export const operations: Readonly<Record<ProviderName, readonly Step[]>> = {
  stripe: [...everywhere, ...atStripe],
  braintree: everywhere,
}
