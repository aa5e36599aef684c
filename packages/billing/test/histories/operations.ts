import type { ProviderName } from '../../src/index.ts'
import { mainSubscriptionStep, type Step, userStep } from './step.ts'

const DAY = 86_400_000
const PLANS = ['monthly', 'pro', 'quarterly', 'yearly']

/** The steps that most histories begin with. */
export const beginnings: readonly Step[] = [
  ...PLANS.map((plan) =>
    userStep(`create ${plan}`, (user, { given }) =>
      user.newSubscription('main', plan).create(given.card),
    ),
  ),
  userStep('create with a trial', (user, { given }) =>
    user.newSubscription('main', 'monthly').trialDays(9).create(given.card),
  ),
]

const everywhere: readonly Step[] = [
  ...beginnings,
  ...PLANS.map((plan) => mainSubscriptionStep(`swap ${plan}`, (main) => main.swap(plan))),
  userStep('create with a declined card', (user, { given }) =>
    user.newSubscription('main', 'monthly').create(given.declined),
  ),
  mainSubscriptionStep('skip the trial', (main) => main.skipTrial().swap('pro')),
  mainSubscriptionStep('swap without proration', (main) => main.noProrate().swap('pro')),
  mainSubscriptionStep('swap and invoice', (main) => main.swapAndInvoice('pro')),
  mainSubscriptionStep('cancel', (main) => main.cancel()),
  mainSubscriptionStep('cancel now', async (main, world) => {
    world.hasCancelledNow = true
    await main.cancelNow()
  }),
  mainSubscriptionStep('resume', (main) => main.resume()),
  mainSubscriptionStep('add price', (main) => main.addPrice('seat', 2)),
  mainSubscriptionStep('one more seat', (main) => main.incrementQuantity(1, 'seat')),
  mainSubscriptionStep('remove price', (main) => main.removePrice('seat')),
  mainSubscriptionStep('another seat', (main) => main.swapItem('seat', 'support')),
  mainSubscriptionStep('another tax', async (main, world) => {
    world.tax = world.tax === 0 ? 19.6 : 0
    await main.syncTaxPercentage()
  }),
  userStep('other details', (user) =>
    user.updateCustomer({ name: 'Ada King', address: { city: 'Berlin', country: 'DE' } }),
  ),
  userStep('new card', (user, { given }) => user.updateCard(given.otherCard)),
  userStep('another method', (user, { given }) => user.addPaymentMethod(given.card)),
  userStep('the oldest method', async (user) => {
    const oldest = (await user.paymentMethods()).at(-1)
    await user.updateDefaultPaymentMethod(oldest?.id ?? 'none')
  }),
  userStep('no methods', (user) => user.deletePaymentMethods()),
]

const atStripe: readonly Step[] = [
  userStep('create with a code', (user, { given }) =>
    user.newSubscription('main', 'pro').withPromotionCode('HELLO').create(given.card),
  ),
  userStep('create from a day on', (user, { given, sandbox }) =>
    user
      .newSubscription('main', 'monthly')
      .anchorOn(new Date(sandbox.clock.nowMs() + 10 * DAY))
      .create(given.card),
  ),
  userStep('create with a trial before a day', (user, { given, sandbox }) =>
    user
      .newSubscription('main', 'quarterly')
      .trialDays(2)
      .anchorOn(new Date(sandbox.clock.nowMs() + 10 * DAY))
      .create(given.card),
  ),
  userStep('create in the past', (user, { given, sandbox }) =>
    user
      .newSubscription('main', 'monthly')
      .backdate(new Date(sandbox.clock.nowMs() - 40 * DAY))
      .create(given.card),
  ),
  userStep('create with a tax by address', (user, { given }) =>
    user
      .newSubscription('main', 'monthly')
      .withTax('automatic')
      .create(given.card, { address: { country: 'DE' } }),
  ),
  userStep('create without a card', (user) =>
    user.newSubscription('main', 'monthly').trialDays(9).withoutCard().create(),
  ),
  mainSubscriptionStep('one more', (main) => main.incrementQuantity()),
  mainSubscriptionStep('cancel at a date', (main, { sandbox }) =>
    main.cancelAt(new Date(sandbox.clock.nowMs() + 50 * DAY)),
  ),
  mainSubscriptionStep('extend the trial', (main, { sandbox }) =>
    main.extendTrial(new Date(sandbox.clock.nowMs() + 5 * DAY)),
  ),
  mainSubscriptionStep('end the trial', (main) => main.endTrial()),
  mainSubscriptionStep('a metered price', (main, { metered }) => main.addMeteredPrice(metered)),
  mainSubscriptionStep('no metered price', (main, { metered }) => main.removePrice(metered)),
  mainSubscriptionStep('a coupon', (main) => main.applyCoupon('SPRING')),
  mainSubscriptionStep('a code', (main) => main.applyPromotionCode('HELLO')),
  mainSubscriptionStep('no discounts', (main) => main.removeDiscounts()),
  mainSubscriptionStep('plan pro', (main) => main.swapAtPeriodEnd('pro')),
  mainSubscriptionStep('plan a year', (main) => main.swapAtPeriodEnd('yearly')),
  mainSubscriptionStep('plan seats', (main) =>
    main.swapAtPeriodEnd([{ price: 'pro' }, { price: 'seat', quantity: 4 }]),
  ),
  mainSubscriptionStep('plan nothing', (main) => main.cancelPlannedSwap()),
  mainSubscriptionStep('pause', (main) => main.pause()),
  mainSubscriptionStep('pause for a while', (main, { sandbox }) =>
    main.pause({ until: new Date(sandbox.clock.nowMs() + 20 * 86_400_000) }),
  ),
  mainSubscriptionStep('unpause', (main) => main.unpause()),
  userStep('a tax id', (user) => user.createTaxId('eu_vat', 'DE123456789')),
  userStep('no tax ids', async (user) => {
    for (const { id } of await user.taxIds()) await user.deleteTaxId(id)
  }),
]

/** Calls that the application makes for its user. */
export const operations: Readonly<Record<ProviderName, readonly Step[]>> = {
  stripe: [...everywhere, ...atStripe],
  braintree: everywhere,
}
