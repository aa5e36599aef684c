import type { Story } from '../story.ts'
import { balances } from './balances.ts'
import { checkouts } from './checkouts.ts'
import { creditNotes } from './credit-notes.ts'
import { customers } from './customers.ts'
import { dates } from './dates.ts'
import { items } from './items.ts'
import { later } from './later.ts'
import { paymentMethods } from './payment-methods.ts'
import { payments } from './payments.ts'
import { promotionCodes } from './promotion-codes.ts'
import { refunds } from './refunds.ts'
import { starts } from './starts.ts'
import { subscriptions } from './subscriptions.ts'
import { taxes } from './taxes.ts'
import { voids } from './voids.ts'

/** Each feature tells its own. */
export const STORIES: readonly Story[] = [
  ...subscriptions,
  ...starts,
  ...items,
  ...dates,
  ...later,
  ...payments,
  ...checkouts,
  ...refunds,
  ...creditNotes,
  ...voids,
  ...balances,
  ...promotionCodes,
  ...paymentMethods,
  ...customers,
  ...taxes,
]
