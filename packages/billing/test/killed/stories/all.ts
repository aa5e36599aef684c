import type { Story } from '../story.ts'
import { balances } from './balances.ts'
import { checkouts } from './checkouts.ts'
import { creditNotes } from './credit-notes.ts'
import { customers } from './customers.ts'
import { dates } from './dates.ts'
import { items } from './items.ts'
import { paymentMethods } from './payment-methods.ts'
import { payments } from './payments.ts'
import { promotionCodes } from './promotion-codes.ts'
import { refunds } from './refunds.ts'
import { subscriptions } from './subscriptions.ts'
import { taxes } from './taxes.ts'

/** Each feature tells its own. */
export const STORIES: readonly Story[] = [
  ...subscriptions,
  ...items,
  ...dates,
  ...payments,
  ...checkouts,
  ...refunds,
  ...creditNotes,
  ...balances,
  ...promotionCodes,
  ...paymentMethods,
  ...customers,
  ...taxes,
]
