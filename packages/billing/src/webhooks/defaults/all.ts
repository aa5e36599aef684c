import { card } from './card.ts'
import type { DefaultHandler } from './default-handler.ts'
import { deletedCustomer } from './deleted-customer.ts'
import { dispute } from './dispute.ts'
import { news } from './news.ts'
import { subscription } from './subscription.ts'

/** What an event can be about, in the order in which it is looked at. */
export const DEFAULTS = {
  subscription,
  card,
  news,
  deletedCustomer,
  dispute,
} satisfies Readonly<Record<string, DefaultHandler>>
