import { BILLING_ACTIONS } from './billing-acts.tsx'
import { CREDIT_NOTE_ACTIONS } from './credit-note-acts.tsx'
import { PAUSE_ACTIONS } from './pauses.tsx'
import { PLANNED_CHANGE_ACTIONS } from './planned-changes.tsx'
import { TAX_ACTIONS } from './tax-acts.tsx'

/** All acts on the billing of a person or team, by the last part of the URL path. */
export const OWNER_ACTIONS = Object.entries({
  ...BILLING_ACTIONS,
  ...PLANNED_CHANGE_ACTIONS,
  ...PAUSE_ACTIONS,
  ...TAX_ACTIONS,
  ...CREDIT_NOTE_ACTIONS,
})
